#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "execution/source.h"
#include "index/index_config.h"
#include "index/index_set.h"
#include "indexing/index_registry.h"
#include "indexing/vector_graph.h"
#include "indexing/vector_graph_upkeep.h"
#include "model/document_key.h"
#include "model/timestamp.h"
#include "query/query.h"
#include "storage/store.h"

namespace hearth::indexing {

// The status of one graph, for operators.
struct VectorGraphStatus {
  index::IndexNumber number;
  model::DatabaseNumber database;
  bool is_complete;  // Used by searches.
  VectorGraphUpkeep::Origin origin;
  size_t vectors;
  size_t pending;     // Changes not applied yet.
  uint64_t searches;  // Answered since the graph was created.
};

// The graphs of the vector indexes that are configured for approximate search. A graph is created
// when its index is ready, and removed with it.
//
// Threads: safe for concurrent use; one thread of its own does all the work. The destructor saves
// the graphs. Ownership: borrows all that it is given. Errors are logged, and failed work is
// retried later; meanwhile searches compare every entry.
class VectorGraphs {
 public:
  VectorGraphs(storage::Store& store, const Clock& clock, const IndexRegistry& registry,
               const VectorGraphOptions& options, std::chrono::seconds history);
  ~VectorGraphs();
  VectorGraphs(const VectorGraphs&) = delete;
  VectorGraphs& operator=(const VectorGraphs&) = delete;

  // Call it once the indexes on disk are in the registry.
  void Start();

  // Sets which indexes of the database have a graph; those in `wanted` without options have none.
  void SetWanted(model::DatabaseNumber database, const std::vector<index::VectorIndex>& wanted)
      EXCLUDES_LOCK(mutex_);

  // See VectorGraph.
  void Append(const std::vector<index::EntryChange>& changes, model::Timestamp time)
      EXCLUDES_LOCK(mutex_);
  std::optional<execution::Source::NearEntries> Find(const index::Index& index,
                                                     const query::FindNearest& wanted,
                                                     const VectorGraph::Reading& reading) const
      EXCLUDES_LOCK(mutex_);

  std::vector<VectorGraphStatus> Statuses() const EXCLUDES_LOCK(mutex_);

  // Checks for new and removed indexes, and for graphs to save.
  void Maintain() EXCLUDES_LOCK(mutex_);
  // Waits until there is nothing to do.
  void AwaitIdle() EXCLUDES_LOCK(mutex_);

 private:
  struct Wanted {
    index::Definition definition;
    index::HnswOptions options;
  };
  using WantedGraphs = std::map<model::DatabaseNumber, std::vector<Wanted>>;
  struct Kept {
    std::shared_ptr<VectorGraph> graph;
    VectorGraphUpkeep::Origin origin;
  };
  using Graphs = std::vector<Kept>;

  // The thread's state for each graph.
  struct Care {
    std::unique_ptr<VectorGraphUpkeep> upkeep;
    std::optional<std::chrono::steady_clock::time_point> pause_until;  // After an error.
  };

  std::shared_ptr<const Graphs> Current() const EXCLUDES_LOCK(mutex_);
  void Wake() EXCLUDES_LOCK(mutex_);
  void Run() EXCLUDES_LOCK(mutex_);
  // Does part of the pending work; false if there is none.
  bool RunOnce() EXCLUDES_LOCK(mutex_);
  bool StepOne(Care& care);
  void Reconcile() EXCLUDES_LOCK(mutex_);
  void RemoveStrayFiles(const index::IndexSet& indexes, const WantedGraphs& wanted);
  void Publish() EXCLUDES_LOCK(mutex_);

  storage::Store& store_;
  const Clock& clock_;
  const IndexRegistry& registry_;
  const VectorGraphOptions options_;
  const std::chrono::seconds history_;
  std::map<index::IndexNumber, Care> cares_;  // Used only on the thread, like the next member.
  // Weak: while a set is held, entries of dropped indexes stay on disk.
  std::weak_ptr<const index::IndexSet> reconciled_;

  mutable Mutex mutex_;  // Leaf lock.
  CondVar changed_;
  WantedGraphs wanted_ GUARDED_BY(mutex_);
  bool wanted_changed_ GUARDED_BY(mutex_) = true;
  // Shared with commits and searches in progress.
  std::shared_ptr<const Graphs> graphs_ GUARDED_BY(mutex_) = std::make_shared<const Graphs>();
  bool has_work_ GUARDED_BY(mutex_) = true;
  bool is_idle_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hearth::indexing
