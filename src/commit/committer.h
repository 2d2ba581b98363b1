#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "base/connected_client.h"
#include "base/memory_budget.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/turn_queue.h"
#include "commit/admitted_commit.h"
#include "commit/commit_group.h"
#include "commit/owed_turns.h"
#include "documents/commit_clock.h"
#include "documents/document_cache.h"
#include "documents/document_reader.h"
#include "indexing/commit_steps.h"
#include "indexing/index_registry.h"
#include "indexing/vector_graphs.h"
#include "request/write.h"
#include "storage/store.h"
#include "transactions/lock_table.h"
#include "watch/change_feed.h"

namespace hearth::commit {

// The one thread that writes: gathers the waiting commits, one of each client in turn, applies them
// in that order, and makes the whole group durable with one sync. Documents, what they replaced,
// their index entries and the log of the change go into one atomic batch.
//
// A commit whose preconditions fail does not affect the others. If the store fails, every commit of
// the group fails and none of it is visible.
//
// A group ends when its commits have staged or worked enough (commit_group.h), and a client whose
// commit was expensive lets the others go first for as many turns as small commits would have cost.
//
// Threads: safe for concurrent use. `done` runs on the committer's thread and must not block.
// Ownership: borrows all that it is given.
class Committer final : public indexing::CommitSteps {
 public:
  static constexpr size_t kGroupCommitsMax = 512;

  Committer(storage::Store& store, documents::CommitClock& clock, documents::DocumentCache& cache,
            const documents::DocumentReader& reader, transactions::LockTable& locks,
            indexing::IndexRegistry& indexes, indexing::VectorGraphs& vector_graphs,
            watch::ChangeFeed& change_feed, MemoryBudget* memory);
  ~Committer() override { Stop(); }
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // Finishes the submitted work. Later submissions fail with Unavailable, on the submitting thread.
  // Call it from one thread.
  void Stop() EXCLUDES_LOCK(mutex_);

  // Queues the commit. The caller bounds their number.
  void Submit(AdmittedCommit commit) EXCLUDES_LOCK(mutex_);
  void Submit(indexing::CommitStep step) override EXCLUDES_LOCK(mutex_);

  // The number of groups written, and of groups that the store failed to write.
  uint64_t groups() const { return groups_.value(); }
  uint64_t failed_groups() const override { return failed_groups_; }

 private:
  // A group's commits with their results, in the same order.
  struct Work {
    std::vector<AdmittedCommit> commits;
    std::vector<Result<request::CommitResult>> results;
    std::vector<indexing::CommitStep> steps;
  };

  void Run() EXCLUDES_LOCK(mutex_);
  // Waits for work. Returns how many commits wait, and takes the steps; nullopt if there will be no
  // more work.
  std::optional<size_t> AwaitWork(std::vector<indexing::CommitStep>* steps) EXCLUDES_LOCK(mutex_);
  AdmittedCommit TakeNext() EXCLUDES_LOCK(mutex_);
  void Charge(ClientKey client, size_t bytes) EXCLUDES_LOCK(mutex_);
  // Stages up to `commits` of the waiting commits, and the one that did not fit into the group
  // before.
  void StageWaiting(size_t commits, CommitGroup* group, Work* work) EXCLUDES_LOCK(mutex_);
  void Finish(CommitGroup& group, Work work);
  Status Store(CommitGroup& group);

  storage::Store& store_;
  documents::CommitClock& clock_;
  documents::DocumentCache& cache_;
  const documents::DocumentReader& reader_;
  transactions::LockTable& locks_;
  indexing::IndexRegistry& indexes_;
  indexing::VectorGraphs& vector_graphs_;
  watch::ChangeFeed& change_feed_;
  MemoryBudget* const memory_;
  Counter groups_;
  std::atomic<uint64_t> failed_groups_ = 0;
  std::optional<AdmittedCommit> deferred_;  // For the next group. Only on the committer's thread.

  Mutex mutex_;  // Guards the queue only; nothing is called while it is held.
  CondVar changed_;
  TurnQueue<AdmittedCommit> queue_ GUARDED_BY(mutex_);
  OwedTurns owed_turns_ GUARDED_BY(mutex_);  // Forgiven when nothing waits.
  std::vector<indexing::CommitStep> steps_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool has_ended_ GUARDED_BY(mutex_) = false;  // Nothing more is taken from the queue.
  std::thread thread_;                         // Last: starts when all other members exist.
};

}  // namespace hearth::commit
