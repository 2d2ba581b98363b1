#pragma once

#include <array>
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

// kBuilding: updated by every commit, but not complete yet. kReady: complete.
enum class State : uint8_t { kBuilding, kReady };

// Why the index exists: a query that was expensive without it, the configuration, or a TTL policy.
enum class Origin : uint8_t { kOnDemand, kDeclared, kTtl };

// State of an index that changes without being part of its definition.
struct Activity {
  std::atomic<int64_t> created_micros = 0;  // 0: unknown.
  std::atomic<int64_t> used_at_micros = 0;
  std::atomic<uint64_t> documents_indexed = 0;  // By the build so far.

  // What it earns: queries that used it, and the documents and entries that they would have read
  // without it.
  std::atomic<uint64_t> uses = 0;
  std::atomic<uint64_t> reads_saved = 0;
  // What a query read in vain for lack of it; 0: unknown.
  std::atomic<uint64_t> reads_without = 0;
  // What it costs: document writes in its collection group, and the entries that they put.
  std::atomic<uint64_t> document_writes = 0;
  std::atomic<uint64_t> entries_written = 0;
  // The balance of both when it was last computed (indexing/on_demand_budget.h).
  std::atomic<int64_t> score = 0;
  std::atomic<int64_t> scored_at_micros = 0;
  std::atomic<uint64_t> scored_reads_saved = 0;
  std::atomic<uint64_t> scored_entries = 0;

  // The documents that commits have changed while a step of the build was being prepared: commits
  // have indexed them already. Only used on the committer's thread.
  std::unordered_set<std::string> touched;
};

// The key of a map, where an index of map entries is read as an index on the field with that key.
struct MapKey {
  size_t position;    // Of the field in the definition.
  std::string bytes;  // The encoded key, before the component at that position.
};

// One index of one database. Immutable except for its activity.
struct Index {
  IndexNumber number;
  model::DatabaseNumber database;
  Definition definition;  // Canonical.
  State state;
  Origin origin;
  std::shared_ptr<Activity> activity;  // Shared by all versions of this index.
  // Set if this is the part with one key of an index of map entries. The definition is then that of
  // an index on one field.
  std::optional<MapKey> map_key = {};
};

// One entry to write, or to remove if it has no value.
struct EntryChange {
  std::string key;
  std::optional<std::string> value;
  bool has_vector = false;  // True if the index has a vector.
};

// The index changes of one commit.
struct EntryChanges {
  std::vector<EntryChange> changes;
  size_t bytes = 0;     // Of the changes.
  size_t computed = 0;  // The entries that were computed to find the changes.
  // After InvalidArgument: the index whose entries would be too large. Valid as long as the set.
  const Index* too_large = nullptr;
};

// All indexes at one moment. Immutable; readers and commits keep the one they started with. A set
// shares with its successor all that did not change, so a change does not depend on how many
// databases there are.
class IndexSet {
 public:
  IndexSet() = default;
  explicit IndexSet(const std::vector<Index>& indexes);

  // The same set with this index, instead of the one with its number, or without it.
  IndexSet With(const Index& index) const;
  IndexSet Without(const Index& index) const;

  // Valid as long as the set.
  std::vector<const Index*> all() const;
  const std::vector<Index>& OfDatabase(model::DatabaseNumber database) const;
  // The indexes of one collection group.
  const std::vector<Index>& Of(model::DatabaseNumber database,
                               std::string_view collection_id) const;

  // Appends the index changes that a change of one document causes: only entries that differ,
  // except in indexes that are being built, for which all entries of the document are written.
  // `before`, `after`: encoded fields; null if there is no document. InvalidArgument if an entry
  // would be too large.
  Status AppendChanges(model::DatabaseNumber database, const model::DocumentPath& path,
                       const std::string_view* before, const std::string_view* after,
                       EntryChanges* changes) const;

  // Records the change for the indexes that are being built. Only on the committer's thread.
  void NoteTouched(model::DatabaseNumber database, const model::DocumentPath& path,
                   const std::string& document_key) const;

 private:
  struct DatabaseIndexes {
    std::vector<Index> all;
    std::unordered_map<std::string, std::vector<Index>> by_group;  // By collection id.
  };
  using Shard = std::unordered_map<uint32_t, std::shared_ptr<const DatabaseIndexes>>;
  static constexpr size_t kShards = 64;

  const DatabaseIndexes* Find(model::DatabaseNumber database) const;
  IndexSet WithAll(model::DatabaseNumber database, std::vector<Index> indexes) const;

  // By the database's number. Shared with earlier and later sets; null if empty.
  std::array<std::shared_ptr<const Shard>, kShards> shards_;
};

}  // namespace hearth::index
