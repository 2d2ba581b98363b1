#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "index/definition.h"
#include "index/entries.h"
#include "model/document_key.h"
#include "model/names.h"

namespace hearth::index {

// kBuilding: kept up with every commit, but not yet complete. kReady: complete.
enum class State : uint8_t { kBuilding, kReady };

// Who wants the index: a query that was expensive without it, the configuration, a TTL policy.
enum class Origin : uint8_t { kOnDemand, kDeclared, kTtl };

// What changes about an index without being part of its definition.
struct Activity {
  std::atomic<int64_t> used_at_micros = 0;
  std::atomic<uint64_t> documents_indexed = 0;  // By the build so far.
  // The documents that commits have changed while a step of the build was being prepared: commits
  // have indexed them already. The committer's thread only.
  std::unordered_set<std::string> touched;
};

// One index of one database. Immutable but for its activity.
struct Index {
  IndexNumber number;
  model::DatabaseNumber database;
  Definition definition;  // Canonical.
  State state;
  Origin origin;
  std::shared_ptr<Activity> activity;  // Shared by all versions of this index.
};

// One entry to be written, or removed where there is no value.
struct EntryChange {
  std::string key;
  std::optional<std::string> value;
  bool has_vector = false;  // It is of an index with a vector.
};

// All indexes at one moment. Immutable; readers and commits hold the one they started with.
class IndexSet {
 public:
  IndexSet() = default;
  explicit IndexSet(std::vector<Index> indexes);

  const std::vector<Index>& all() const { return all_; }
  // Those of one collection group.
  const std::vector<Index>& Of(model::DatabaseNumber database,
                               std::string_view collection_id) const;

  // Adds what a change of one document changes in its indexes: only entries that differ, except in
  // indexes that are being built, which then have all entries of the document.
  // `before`, `after`: encoded fields; null where there is no document.
  // InvalidArgument when an entry would be too large.
  Status AppendChanges(model::DatabaseNumber database, const model::DocumentPath& path,
                       const std::string_view* before, const std::string_view* after,
                       std::vector<EntryChange>* changes) const;

  // Notes the change with the indexes that are being built. The committer's thread only.
  void NoteTouched(model::DatabaseNumber database, const model::DocumentPath& path,
                   const std::string& document_key) const;

 private:
  static std::string GroupKey(model::DatabaseNumber database, std::string_view collection_id);

  std::vector<Index> all_;
  std::unordered_map<std::string, std::vector<Index>> by_group_;
};

}  // namespace hearth::index
