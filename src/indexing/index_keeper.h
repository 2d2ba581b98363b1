#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/turn_queue.h"
#include "documents/database.h"
#include "index/index_record.h"
#include "index/index_set.h"
#include "indexing/commit_steps.h"
#include "indexing/index_registry.h"
#include "indexing/on_demand_budget.h"
#include "storage/store.h"

namespace hearth::indexing {

struct IndexKeeperOptions {
  size_t step_documents_max = 1'000;  // Other collections that a step passes over count, too.
  size_t step_bytes_max = 1024 * 1024;
  // How long an index made on demand is kept without being used.
  std::chrono::seconds unused_max = std::chrono::hours(7 * 24);
  OnDemandBudgetOptions on_demand;
};

// Manages the life of every index: created when needed, built beside live commits, kept, dropped
// when no longer needed.
//
// A build goes through the documents in steps. Each step reads a part of them from a snapshot and
// hands their entries to the committer, which skips the documents that commits have changed since
// the snapshot: those are already indexed. The progress is stored with each step, so a build
// resumes after a restart. After each step, urgent builds of other databases have their turn.
//
// Threads: safe for concurrent use. Ownership: borrows all that it is given. Errors of the store
// are logged, and the work is retried.
class IndexKeeper {
 public:
  // Takes over the indexes on disk.
  static Result<std::unique_ptr<IndexKeeper>> Open(storage::Store& store, const Clock& clock,
                                                   IndexRegistry& registry,
                                                   const IndexKeeperOptions& options);
  ~IndexKeeper();
  IndexKeeper(const IndexKeeper&) = delete;
  IndexKeeper& operator=(const IndexKeeper&) = delete;

  // Call Start once, before anything else. Call Stop before the committer ends.
  void Start(CommitSteps& committer) EXCLUDES_LOCK(mutex_);
  void Stop() EXCLUDES_LOCK(mutex_);

  // Ensures that this index exists or will soon, whatever indexes queries have asked for. An index
  // made on demand becomes a declared one when it is declared. `origin`: not kOnDemand.
  void Want(const documents::Database& database, const index::Definition& definition,
            index::Origin origin) EXCLUDES_LOCK(mutex_);
  // Asks for an index on demand. The budget decides.
  void Wish(const documents::Database& database, const IndexWish& wish) EXCLUDES_LOCK(mutex_);
  // Removes the index and its entries, as soon as no reader uses it, if queries asked for it and it
  // has not been declared by the time it is dropped.
  void Drop(index::IndexNumber number) EXCLUDES_LOCK(mutex_);
  // Turns the declared and TTL indexes of the database into on-demand ones, except for those still
  // wanted. Also releases indexes that were wanted earlier and do not exist yet.
  void ReleaseAllBut(model::DatabaseNumber database, std::vector<index::Definition> wanted)
      EXCLUDES_LOCK(mutex_);

  // Removes the indexes of a deleted database, then calls back on the keeper's thread; never, if
  // the keeper is stopped first.
  void ForgetDatabase(model::DatabaseNumber database, std::function<void()> done)
      EXCLUDES_LOCK(mutex_);

  // Drops indexes that have been unused for too long or that cost too much, and stores when indexes
  // were last used.
  void Maintain() EXCLUDES_LOCK(mutex_);

  // Waits until there is nothing to do.
  void AwaitIdle() EXCLUDES_LOCK(mutex_);

 private:
  struct Task {
    std::string name;
    model::DatabaseNumber database;  // Urgent tasks take turns by it.
    std::function<void()> run;
  };
  // An index that is gone, except for its entries.
  struct Leaving {
    index::IndexNumber number;
    std::weak_ptr<const index::IndexSet> last_set;  // Held by readers that may use it.
  };
  struct Step;

  IndexKeeper(storage::Store& store, const Clock& clock, IndexRegistry& registry,
              const IndexKeeperOptions& options);

  // Work for queries waits for work that was asked for by configuration or command.
  enum class Urgency : uint8_t { kNow, kLater };

  Status Load();
  // No effect if a task of that name is already queued.
  void Enqueue(Urgency urgency, Task task) EXCLUDES_LOCK(mutex_);
  // Moves the task of that name, if it waits, ahead of the work for queries.
  void Hasten(const std::string& name) EXCLUDES_LOCK(mutex_);
  void Run() EXCLUDES_LOCK(mutex_);
  // The most urgent work; null if there is none.
  std::function<void()> TakeWork() REQUIRES_LOCK(mutex_);
  bool stopping() const EXCLUDES_LOCK(mutex_);
  bool HasUrgentWork() const EXCLUDES_LOCK(mutex_);
  // Whether other work has to come before the next step of the index's build.
  bool MustGiveWay(const index::Index& index) const EXCLUDES_LOCK(mutex_);
  // Removes the entries of an index that a commit dropped, and prevents that it comes back.
  void FinishDrop(IndexRegistry::Dropped dropped) EXCLUDES_LOCK(mutex_);
  // Whether building an index of the database makes sense.
  bool MayBuild(model::DatabaseNumber database) const EXCLUDES_LOCK(mutex_);

  // The functions below run on the keeper's own thread.
  // `activity`: what is known about it before it exists.
  void Create(const documents::ConstDatabaseHandle& database, const index::Definition& definition,
              index::Origin origin, const std::shared_ptr<index::Activity>& activity);
  // Drops the indexes on demand that the index of a whole map replaces.
  void DropServedBy(const index::Index& shared);
  void SetOrigin(index::IndexNumber number, index::Origin origin);
  // Gives way to other work between steps, and goes on later.
  void Build(index::IndexNumber number, std::string progress);
  Task ToBuild(const index::Index& index, std::string progress);
  void GoOnLater(const index::Index& index, std::string progress) EXCLUDES_LOCK(mutex_);
  Status BuildStep(const index::Index& index, std::string* progress, bool* finished);
  Status ReadStep(const index::Index& index, Step* step);
  void Remove(index::IndexNumber number);
  // Goes on later if there is urgent work.
  void RemoveEntries(index::IndexNumber number);
  void NoteUses();
  // Adds the index, or replaces the one with its number. On the committer's thread.
  void Replace(const index::Index& index);
  std::optional<index::Index> Find(index::IndexNumber number) const;
  // Waits a little after an error; false if the keeper is stopping.
  bool PauseAfter(const Status& status, const char* what) EXCLUDES_LOCK(mutex_);

  storage::Store& store_;
  const Clock& clock_;
  IndexRegistry& registry_;
  const IndexKeeperOptions options_;
  OnDemandBudget budget_;
  CommitSteps* committer_ = nullptr;

  mutable Mutex mutex_;  // Leaf lock.
  CondVar changed_;
  TurnQueue<Task, model::DatabaseNumber> urgent_tasks_ GUARDED_BY(mutex_);
  std::deque<Task> tasks_ GUARDED_BY(mutex_);
  std::vector<Leaving> leaving_ GUARDED_BY(mutex_);
  std::set<std::string> waiting_tasks_ GUARDED_BY(mutex_);  // Their names.
  std::set<model::DatabaseNumber> being_forgotten_ GUARDED_BY(mutex_);
  bool is_busy_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  uint32_t next_number_ = 1;  // Used only on the keeper's thread, once started.
  std::atomic<int64_t> uses_noted_at_ = 0;
  std::atomic<int64_t> budget_checked_at_ = 0;
  std::thread thread_;
};

}  // namespace hearth::indexing
