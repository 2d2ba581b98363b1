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
#include "index/index_record.h"
#include "index/index_set.h"
#include "indexing/commit_steps.h"
#include "indexing/index_registry.h"
#include "storage/store.h"

namespace hearth::indexing {

struct IndexKeeperOptions {
  size_t step_documents_max = 1'000;
  size_t step_bytes_max = 1024 * 1024;
  // How long an index that was made on demand stays without being used.
  std::chrono::seconds unused_max = std::chrono::hours(7 * 24);
};

// Gives every index its life: made when somebody wants it, built beside live commits, kept, dropped
// when nobody wants it any more.
//
// A build goes through the documents in steps. Each step reads a part of them from a snapshot and
// hands their entries to the committer, which leaves out the documents that commits have changed
// since the snapshot: those are indexed already. How far it has come is stored with each step, so
// that a build goes on where it was after a restart.
//
// Threads: safe for concurrent use. Ownership: borrows all that it is given. Errors of the store
// are logged and tried again.
class IndexKeeper {
 public:
  static constexpr size_t kIndexesMax = 2'000;

  // Takes over the indexes that are on disk.
  static Result<std::unique_ptr<IndexKeeper>> Open(storage::Store& store, const Clock& clock,
                                                   IndexRegistry& registry,
                                                   const IndexKeeperOptions& options);
  ~IndexKeeper();
  IndexKeeper(const IndexKeeper&) = delete;
  IndexKeeper& operator=(const IndexKeeper&) = delete;

  // To be called once, before anything else. Stop comes before the committer's end.
  void Start(CommitSteps& committer) EXCLUDES_LOCK(mutex_);
  void Stop() EXCLUDES_LOCK(mutex_);

  // Sees to it that there is, or soon will be, this index. An index that was made on demand becomes
  // a declared one when it is declared.
  void Want(model::DatabaseNumber database, const index::Definition& definition,
            index::Origin origin) EXCLUDES_LOCK(mutex_);
  // Removes the index and its entries, as soon as nobody reads it.
  void Drop(index::IndexNumber number) EXCLUDES_LOCK(mutex_);
  // Keeps the declared and TTL indexes of the database as ones made on demand, except for those
  // that are still wanted. What was wanted earlier and is not there yet is released, too.
  void ReleaseAllBut(model::DatabaseNumber database, std::vector<index::Definition> wanted)
      EXCLUDES_LOCK(mutex_);

  // Drops what has been unused for too long, and notes on disk when indexes were last used.
  void Maintain() EXCLUDES_LOCK(mutex_);

  // Waits until there is nothing to do.
  void AwaitIdle() EXCLUDES_LOCK(mutex_);

 private:
  struct Task {
    std::string name;
    std::function<void()> run;
  };
  struct Step;

  IndexKeeper(storage::Store& store, const Clock& clock, IndexRegistry& registry,
              const IndexKeeperOptions& options);

  Status Load();
  // Nothing happens while a task of that name waits already.
  void Enqueue(std::string name, std::function<void()> run) EXCLUDES_LOCK(mutex_);
  void Run() EXCLUDES_LOCK(mutex_);
  bool stopping() const EXCLUDES_LOCK(mutex_);

  // What follows runs on the keeper's own thread.
  void Create(model::DatabaseNumber database, const index::Definition& definition,
              index::Origin origin);
  void SetOrigin(index::IndexNumber number, index::Origin origin);
  void Build(index::IndexNumber number, std::string progress);
  Status BuildStep(const index::Index& index, std::string* progress, bool* finished);
  Status ReadStep(const index::Index& index, Step* step);
  void Remove(index::IndexNumber number);
  void RemoveEntries(index::IndexNumber number);
  void NoteUses();
  // Puts a changed copy of the index, or none, in place of the one with its number.
  void Replace(index::IndexNumber number, std::optional<index::Index> index);
  std::optional<index::Index> Find(index::IndexNumber number) const;
  // Waits a little after an error; false when the keeper is to stop.
  bool PauseAfter(const Status& status, const char* what) EXCLUDES_LOCK(mutex_);

  storage::Store& store_;
  const Clock& clock_;
  IndexRegistry& registry_;
  const IndexKeeperOptions options_;
  CommitSteps* committer_ = nullptr;

  mutable Mutex mutex_;  // Leaf lock.
  CondVar changed_;
  std::deque<Task> tasks_ GUARDED_BY(mutex_);
  std::set<std::string> waiting_tasks_ GUARDED_BY(mutex_);  // Their names.
  bool is_busy_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  uint32_t next_number_ = 1;  // The keeper's thread only, once started.
  std::atomic<int64_t> uses_noted_at_ = 0;
  std::thread thread_;
};

}  // namespace hearth::indexing
