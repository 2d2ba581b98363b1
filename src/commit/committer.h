#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/callback.h"
#include "base/connected_client.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/turn_queue.h"
#include "documents/commit_clock.h"
#include "documents/database.h"
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

// One commit with all the locks it needs.
struct AdmittedCommit {
  documents::DatabaseHandle database;
  transactions::LockOwner owner;  // Its locks are released once the outcome is known.
  ClientKey client;
  std::vector<request::Write> writes;
  Callback<void(Result<request::CommitResult>)> done;
};

// The one thread that writes: gathers the waiting commits, one of each client in turn, applies them
// in that order, and makes the whole group durable with one sync. Documents, what they replaced,
// their index entries and the log of the change go into one atomic batch.
//
// A commit whose preconditions fail does not affect the others. If the store fails, every commit of
// the group fails and none of it is visible.
//
// Threads: safe for concurrent use. `done` runs on the committer's thread and must not block.
// Ownership: borrows all that it is given.
class Committer final : public indexing::CommitSteps {
 public:
  static constexpr size_t kGroupCommitsMax = 512;
  static constexpr size_t kGroupBytesMax = 16 * 1024 * 1024;

  Committer(storage::Store& store, documents::CommitClock& clock, documents::DocumentCache& cache,
            const documents::DocumentReader& reader, transactions::LockTable& locks,
            const indexing::IndexRegistry& indexes, indexing::VectorGraphs& vector_graphs,
            watch::ChangeFeed& change_feed);
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
  // The state of documents after the group's writes so far; null: deleted.
  using Overlay = std::unordered_map<std::string, model::Record>;
  struct Group;
  struct Work {
    std::vector<AdmittedCommit> commits;
    std::vector<indexing::CommitStep> steps;
    bool empty() const { return commits.empty() && steps.empty(); }
  };

  void Run() EXCLUDES_LOCK(mutex_);
  // False if there will be no more work.
  bool TakeWork(Work* work) EXCLUDES_LOCK(mutex_);
  void CommitGroup(Work work);
  Status Store(Group& group);
  Result<request::CommitResult> Stage(AdmittedCommit& commit, Group* group);
  Result<model::Record> Load(const std::string& document_key, const Overlay& overlay);

  storage::Store& store_;
  documents::CommitClock& clock_;
  documents::DocumentCache& cache_;
  const documents::DocumentReader& reader_;
  transactions::LockTable& locks_;
  const indexing::IndexRegistry& indexes_;
  indexing::VectorGraphs& vector_graphs_;
  watch::ChangeFeed& change_feed_;
  Counter groups_;
  std::atomic<uint64_t> failed_groups_ = 0;

  Mutex mutex_;  // Guards the queue only; nothing is called while it is held.
  CondVar changed_;
  TurnQueue<AdmittedCommit> queue_ GUARDED_BY(mutex_);
  std::vector<indexing::CommitStep> steps_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool has_ended_ GUARDED_BY(mutex_) = false;  // Nothing more is taken from the queue.
  std::thread thread_;                         // Last: starts when all other members exist.
};

}  // namespace hearth::commit
