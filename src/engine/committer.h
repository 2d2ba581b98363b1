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

#include "base/mutex.h"
#include "base/status.h"
#include "engine/change_feed.h"
#include "engine/commit_clock.h"
#include "engine/database.h"
#include "engine/document_cache.h"
#include "engine/document_reader.h"
#include "engine/index_registry.h"
#include "engine/lock_table.h"
#include "engine/vector_graphs.h"
#include "engine/write.h"
#include "storage/store.h"

namespace hearth::engine {

// One commit with all the locks it needs.
struct AdmittedCommit {
  Database* database;
  LockOwner owner;  // Its locks are released once the outcome is known.
  std::vector<Write> writes;
  std::function<void(Result<CommitResult>)> done;
};

// Work beside commits that must be in step with them: building an index, say.
struct CommitStep {
  // Adds changes to the batch of the next group. Runs on the committer's thread.
  std::function<void(storage::Batch*)> stage;
  // Runs there too, when the group, with all that was committed before, is in the store or has
  // failed, and before anything of the next group is staged.
  std::function<void(const Status&)> done;
};

// The one thread that writes: gathers the commits that are waiting, applies them in order of
// arrival, and makes the whole group durable with one sync. Documents, what they replaced, their
// index entries and the log of the change go into one atomic batch.
//
// A commit whose preconditions fail takes nothing else down with it. If the store fails, every
// commit of the group fails and none of it is visible.
//
// Threads: safe for concurrent use. `done` runs on the committer's thread and must not block.
// Ownership: borrows all that it is given.
class Committer {
 public:
  static constexpr size_t kGroupCommitsMax = 512;
  static constexpr size_t kGroupBytesMax = 16 * 1024 * 1024;

  Committer(storage::Store& store, CommitClock& clock, DocumentCache& cache,
            const DocumentReader& reader, LockTable& locks, const IndexRegistry& indexes,
            VectorGraphs& vector_graphs, ChangeFeed& change_feed);
  ~Committer() { Stop(); }
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // Finishes what was submitted. What comes later is answered with Unavailable, on the thread that
  // submits it. To be called from one thread.
  void Stop() EXCLUDES_LOCK(mutex_);

  // Takes the commit in. How many there are is bounded by whoever admits them.
  void Submit(AdmittedCommit commit) EXCLUDES_LOCK(mutex_);
  void Submit(CommitStep step) EXCLUDES_LOCK(mutex_);

  // Stores what `stage` adds to the next group, and waits for it. If that has worked, `stored` runs
  // on the committer's thread, before anything of the group after it is staged.
  Status RunStep(std::function<void(storage::Batch*)> stage, std::function<void()> stored)
      EXCLUDES_LOCK(mutex_);

  // How many groups could not be stored.
  uint64_t failed_groups() const { return failed_groups_; }

 private:
  // What the group has done so far to one document; null: it is gone.
  using Overlay = std::unordered_map<std::string, Record>;
  struct Group;
  struct Work {
    std::vector<AdmittedCommit> commits;
    std::vector<CommitStep> steps;
    bool empty() const { return commits.empty() && steps.empty(); }
  };

  void Run() EXCLUDES_LOCK(mutex_);
  // False when there will be no more.
  bool TakeWork(Work* work) EXCLUDES_LOCK(mutex_);
  void CommitGroup(Work work);
  Status Store(Group& group);
  Result<CommitResult> Stage(AdmittedCommit& commit, Group* group);
  Result<Record> Load(const std::string& document_key, const Overlay& overlay);

  storage::Store& store_;
  CommitClock& clock_;
  DocumentCache& cache_;
  const DocumentReader& reader_;
  LockTable& locks_;
  const IndexRegistry& indexes_;
  VectorGraphs& vector_graphs_;
  ChangeFeed& change_feed_;
  std::atomic<uint64_t> failed_groups_ = 0;

  Mutex mutex_;  // Guards the queue only; nothing is called while it is held.
  CondVar changed_;
  std::deque<AdmittedCommit> queue_ GUARDED_BY(mutex_);
  std::vector<CommitStep> steps_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool has_ended_ GUARDED_BY(mutex_) = false;  // Nothing more is taken from the queue.
  std::thread thread_;                         // Last: it starts when all else is there.
};

}  // namespace hearth::engine
