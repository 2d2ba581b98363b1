#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "execution/source.h"
#include "index/index_config.h"
#include "index/index_set.h"
#include "model/timestamp.h"
#include "query/query.h"
#include "vector/hnsw_index.h"

namespace hearth::indexing {

// Limits on the changes that a graph keeps: those not applied yet, and those applied recently.
struct VectorGraphLimits {
  size_t pending_max = 20'000;
  size_t pending_bytes_max = 64 * 1024 * 1024;
  size_t recent_max = 10'000;
};

// The approximate index of one vector index, in memory. The entries on disk remain authoritative:
// results found here have to be looked up there.
//
// Commits only append their changes here; the graph's upkeep applies them one by one, on its own
// thread. A search covers pending changes by comparing them all. If there are too many, the graph
// stops collecting: it is incomplete until its upkeep has recovered what it missed.
//
// Threads: Append from the committer's thread, Find and the accessors from any, the rest from that
// of the upkeep. Ownership: owns all. Errors: those of vector::HnswIndex.
class VectorGraph {
 public:
  VectorGraph(index::Index index, const index::HnswOptions& options,
              const VectorGraphLimits& limits);

  const index::Index& index() const { return index_; }
  const index::HnswOptions& options() const { return options_; }

  // Adds the changes of one group of commits in all vector indexes, and the time of its last
  // commit. Call it when the group is in the store and before it is published. Returns true if
  // there are changes to apply.
  bool Append(const std::vector<index::EntryChange>& changes, model::Timestamp time)
      EXCLUDES_LOCK(mutex_);

  struct Reading {
    size_t count;
    model::Timestamp time;  // All commits up to this time are in the reader's snapshot.
  };
  // See query::Source. nullopt unless the graph is complete and can answer for that time.
  std::optional<execution::Source::NearEntries> Find(const query::FindNearest& wanted,
                                                     const Reading& reading) const
      EXCLUDES_LOCK(mutex_);

  bool is_complete() const EXCLUDES_LOCK(mutex_);
  size_t pending() const EXCLUDES_LOCK(mutex_);
  size_t vectors() const EXCLUDES_LOCK(mutex_);
  uint64_t searches() const { return searches_; }

  // Starts empty, or from a saved graph: NotFound, Unavailable or DataLoss if that is not possible.
  // The graph is incomplete in either case.
  Status Reset() EXCLUDES_LOCK(mutex_);
  Status Load(const std::string& path, model::Timestamp through) EXCLUDES_LOCK(mutex_);

  // From now on, changes are kept until they are applied.
  void StartCollecting() EXCLUDES_LOCK(mutex_);
  // False if there were too many changes.
  bool is_collecting() const EXCLUDES_LOCK(mutex_);
  // All commits up to this time are in the graph; later ones may be too.
  model::Timestamp through() const EXCLUDES_LOCK(mutex_);
  void SetThrough(model::Timestamp time) EXCLUDES_LOCK(mutex_);
  // Marks the graph complete: everything committed up to `newest` is in it or pending. No effect if
  // collecting was interrupted.
  void BecomeComplete(model::Timestamp newest) EXCLUDES_LOCK(mutex_);

  // Applies at most `max` of the pending changes. True if some are left.
  Result<bool> TakeIn(size_t max) EXCLUDES_LOCK(mutex_);
  // One entry, by its full key.
  Status Put(std::string_view key, std::string_view value);
  Status Remove(std::string_view key);

  // Writes the graph to a file; it stays in use.
  Status Save(const std::string& path) const;

 private:
  struct Change {
    model::Timestamp time;
    std::string key;
    std::optional<std::vector<double>> vector;  // nullopt: the entry was removed.
  };
  using Pending = std::vector<std::shared_ptr<const Change>>;

  static size_t BytesOf(const Change& change);
  std::shared_ptr<vector::HnswIndex> graph() const EXCLUDES_LOCK(mutex_);
  void Collect(const index::EntryChange& change, model::Timestamp time) REQUIRES_LOCK(mutex_);
  void GiveUp() REQUIRES_LOCK(mutex_);
  void Forget() REQUIRES_LOCK(mutex_);
  // Adds the keys of the nearest pending entries. False if others are equally near.
  bool AddNearPending(const Pending& pending, const query::FindNearest& wanted,
                      const Reading& reading, std::vector<std::string>* keys) const;
  // Adds the keys that changed after the reader's time. False if not all are known.
  bool AddChangedSince(model::Timestamp time, std::vector<std::string>* keys) const
      EXCLUDES_LOCK(mutex_);

  const index::Index index_;
  const index::HnswOptions options_;
  const VectorGraphLimits limits_;
  const std::string key_prefix_;  // The prefix of the index's entries.
  mutable std::atomic<uint64_t> searches_ = 0;

  mutable Mutex mutex_;  // Leaf lock.
  // Shared with searches in progress. Its keys are those of entries.
  std::shared_ptr<vector::HnswIndex> graph_ GUARDED_BY(mutex_);
  bool is_collecting_ GUARDED_BY(mutex_) = false;
  bool is_complete_ GUARDED_BY(mutex_) = false;
  std::deque<std::shared_ptr<const Change>> pending_ GUARDED_BY(mutex_);  // Shared likewise.
  size_t pending_bytes_ GUARDED_BY(mutex_) = 0;
  // Changes already in the graph, for readers whose snapshots do not have them yet.
  struct Recent {
    model::Timestamp time;
    std::string key;
  };
  std::deque<Recent> recent_ GUARDED_BY(mutex_);
  // The newest change that is neither pending nor recent.
  model::Timestamp forgotten_ GUARDED_BY(mutex_);
  model::Timestamp newest_ GUARDED_BY(mutex_);  // Over all commits.
  model::Timestamp through_ GUARDED_BY(mutex_);
};

}  // namespace hearth::indexing
