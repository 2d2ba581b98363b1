// The keys of the engine in each storage space. docs/formats/keys.md has examples.
//
//   kDocuments  database (4), encoded document path
//   kHistory    database (4), encoded document path, commit time (8)
//   kLog        database (4), commit time (8)
//   kMeta       "database/" and the name of a database; "commit_time"
//
// Numbers are big-endian. Encoded paths are prefix-free, so what follows one is unambiguous.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "model/names.h"
#include "model/timestamp.h"

namespace hearth::engine {

// Stands for a database's name in keys.
enum class DatabaseNumber : uint32_t {};

inline constexpr std::string_view kCommitTimeKey = "commit_time";
inline constexpr std::string_view kDatabaseKeyPrefix = "database/";

std::string DatabaseKeyPrefix(DatabaseNumber database);
std::string DocumentKey(DatabaseNumber database, const model::DocumentPath& path);
// What the keys of the documents directly in `collection` begin with.
std::string CollectionKeyPrefix(DatabaseNumber database, const model::CollectionPath& collection);
// DataLoss when `document_key` is not a document's key.
Result<model::DocumentPath> DocumentPathOfKey(std::string_view document_key);

std::string HistoryKey(std::string_view document_key, model::Timestamp commit_time);
// The part of a history key that names the document. Requires a key that HistoryKey made.
std::string_view DocumentKeyOfHistoryKey(std::string_view history_key);

std::string LogKey(DatabaseNumber database, model::Timestamp commit_time);

std::string EncodeUint32(uint32_t number);
std::string EncodeUint64(uint64_t number);
// DataLoss unless `bytes` has exactly the length of the number.
Result<uint32_t> DecodeUint32(std::string_view bytes);
Result<uint64_t> DecodeUint64(std::string_view bytes);

}  // namespace hearth::engine
