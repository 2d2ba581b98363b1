#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "index/index_set.h"

namespace hearth::indexing {

struct OnDemandBudgetOptions {
  // How many entries the indexes of one collection group may add to a document write.
  size_t entries_per_write_max = 20;
  // Up to this many, an index is built for the first query that needs it. Beyond, the need has to
  // be seen repeatedly.
  size_t prompt_entries_per_write_max = 8;
  size_t indexes_of_database_max = 200;
  // Of all databases. Beyond it, databases with many of them give way to those with few.
  size_t indexes_max = 5'000;
};

// An index that would have made a query cheaper.
struct IndexWish {
  model::DatabaseNumber database;
  index::Definition definition;
  // The same index for all keys of a map, if the definition has a field of a map.
  std::optional<index::Definition> shared = {};
  uint64_t reads_in_vain = 0;  // Documents and entries that the query read beyond its results.
};

// Decides which indexes that queries ask for are built, so that queries alone cannot make writes
// expensive.
//
// An index earns what it saves: the documents and entries that its queries would have read without
// it. It pays for the entries that commits write to it. Both fade with time. When the budget of a
// collection group, a database or the server is used up, the least useful index is dropped for a
// new one that promises more, by what queries have read in vain for lack of it.
//
// Fields whose names are data, such as `members.UID`, would need an index each. Once several fields
// of a map were asked for, one index with an entry for each key of the map serves them all.
//
// Threads: safe for concurrent use.
class OnDemandBudget {
 public:
  // A wish beyond the prompt ones is granted when it was seen this often, or if one query read this
  // much.
  static constexpr size_t kSightingsMin = 3;
  static constexpr uint64_t kLargeReads = 100'000;
  // A new index is kept at least this long, which bounds how often indexes can displace each other.
  static constexpr int64_t kLifeMinMicros = int64_t{10} * 60 * 1'000'000;
  // The time after which earnings count half.
  static constexpr int64_t kHalfLifeMicros = int64_t{24} * 3'600 * 1'000'000;
  // What writing an entry costs, in reads.
  static constexpr int64_t kEntryCost = 4;
  // How much more than the index that it displaces a new one must promise.
  static constexpr int64_t kDisplacementFactor = 2;
  // The entries that an index of array elements or map keys is assumed to cost per write until it
  // was measured over this many writes.
  static constexpr double kManyEntriesGuess = 4;
  static constexpr uint64_t kMeasuredWritesMin = 100;
  // A collection group that costs this many times its budget is too expensive, whatever it saves.
  static constexpr double kExcessFactor = 10;
  // The fields of one map that have to be asked for before they share an index.
  static constexpr size_t kSharedFieldsMin = 4;
  // Wishes that are remembered, of one database and in all.
  static constexpr size_t kWishesOfDatabaseMax = 256;
  static constexpr size_t kWishesMax = 4'096;
  static constexpr size_t kSharedWishesMax = 1'024;
  // Barred indexes that are remembered.
  static constexpr size_t kBarredMax = 1'024;

  explicit OnDemandBudget(const OnDemandBudgetOptions& options) : options_(options) {}

  struct Decision {
    std::optional<index::Definition> build;
    int64_t promise = 0;  // The standing of the new index, in reads.
    std::vector<index::IndexNumber> drop;
  };
  // If the decision is to build an index, it counts from now on; call EndBuild once it is in the
  // set or has failed.
  Decision Decide(const index::IndexSet& indexes, const IndexWish& wish, int64_t now_micros)
      EXCLUDES_LOCK(mutex_);
  void EndBuild(model::DatabaseNumber database, const index::Definition& definition)
      EXCLUDES_LOCK(mutex_);
  // The indexes to drop because commits write more entries to a collection group than the budget
  // allows, by what was measured: those that cost more than they save, and beyond kExcessFactor
  // times the budget the most expensive ones, which are then barred.
  std::vector<index::IndexNumber> FindExcess(const index::IndexSet& indexes, int64_t now_micros)
      EXCLUDES_LOCK(mutex_);
  // No longer builds this index: the entries of some document are too large for it.
  void Bar(model::DatabaseNumber database, const index::Definition& definition)
      EXCLUDES_LOCK(mutex_);
  // Drops everything about a deleted database.
  void Forget(model::DatabaseNumber database) EXCLUDES_LOCK(mutex_);

  // What the index has saved beyond its costs, in reads, faded.
  int64_t Usefulness(const index::Index& index, int64_t now_micros) EXCLUDES_LOCK(mutex_);
  // How many entries the index adds to a document write: measured, and at least one.
  static double EntriesPerWrite(const index::Index& index);

 private:
  using Key = std::pair<model::DatabaseNumber, index::Definition>;
  struct Demand {
    size_t sightings = 0;
    double reads = 0;  // Faded.
    int64_t at_micros = 0;
  };
  struct Usage;

  static double Faded(double value, int64_t from_micros, int64_t to_micros);
  int64_t UpdateScore(const index::Index& index, int64_t now_micros) REQUIRES_LOCK(mutex_);
  // The definition to build for the wish: its own, or the shared one.
  const index::Definition& Chosen(const IndexWish& wish) REQUIRES_LOCK(mutex_);
  Demand& Note(const Key& key, const IndexWish& wish, int64_t now_micros) REQUIRES_LOCK(mutex_);
  Usage UsageOf(const index::IndexSet& indexes, const Key& key) const REQUIRES_LOCK(mutex_);
  // Chooses indexes to drop until there is room. False if they are worth more.
  bool MakeRoom(Usage usage, const Key& key, int64_t promise, int64_t now_micros,
                std::vector<index::IndexNumber>* drop) REQUIRES_LOCK(mutex_);
  // The same for the indexes of one collection group.
  void DropExcess(const std::vector<const index::Index*>& of_group, int64_t now_micros,
                  std::vector<index::IndexNumber>* drop) REQUIRES_LOCK(mutex_);
  void BarLocked(const Key& key) REQUIRES_LOCK(mutex_);
  void WarnOnce(const Key& key) REQUIRES_LOCK(mutex_);

  const OnDemandBudgetOptions options_;
  Mutex mutex_;  // Leaf lock.
  std::map<Key, Demand> demands_ GUARDED_BY(mutex_);
  std::map<Key, std::set<index::Definition>> shared_ GUARDED_BY(mutex_);  // By shared form.
  std::set<Key> being_built_ GUARDED_BY(mutex_);
  std::set<Key> barred_ GUARDED_BY(mutex_);
  std::set<model::DatabaseNumber> warned_ GUARDED_BY(mutex_);
};

}  // namespace hearth::indexing
