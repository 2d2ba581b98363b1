// The keys of the engine in each storage space. docs/formats/keys.md has examples.
//
//   kDocuments  database (4), encoded document path
//   kHistory    database (4), encoded document path, commit time (8)
//   kLog        database (4), commit time (8)
//   kIndexes    see index/entries.h
//   kMeta       "database/" and the name of a database, see database.h; "database_remains/" and the
//               number of a deleted one (4), whose value is its name; "deletion_time" of the newest
//               deletion of a database; "commit_time"; "index/" and the number of an index (4),
//               "index_use/" likewise, see index/index_use.h, "index_remains/" and the number of a
//               dropped one (4); "next_index"; "read_time"; "store_id"; "ttl/", see ttl_policies.h
//
// Numbers are big-endian. Encoded paths are prefix-free, so the bytes after one are unambiguous.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "model/document_key.h"
#include "model/timestamp.h"

namespace hearth::documents {

inline constexpr std::string_view kCommitTimeKey = "commit_time";
inline constexpr std::string_view kDatabaseKeyPrefix = "database/";
inline constexpr std::string_view kDeletionTimeKey = "deletion_time";
inline constexpr std::string_view kDatabaseRemainsKeyPrefix = "database_remains/";
inline constexpr std::string_view kIndexKeyPrefix = "index/";
inline constexpr std::string_view kIndexRemainsKeyPrefix = "index_remains/";
inline constexpr std::string_view kIndexUseKeyPrefix = "index_use/";
inline constexpr std::string_view kNextIndexKey = "next_index";
inline constexpr std::string_view kReadTimeKey = "read_time";
inline constexpr std::string_view kStoreIdKey = "store_id";
inline constexpr std::string_view kTtlKeyPrefix = "ttl/";

std::string HistoryKey(std::string_view document_key, model::Timestamp commit_time);
// The part of a history key that names the document. Requires a key that HistoryKey made.
std::string_view DocumentKeyOfHistoryKey(std::string_view history_key);

std::string LogKey(model::DatabaseNumber database, model::Timestamp commit_time);

}  // namespace hearth::documents
