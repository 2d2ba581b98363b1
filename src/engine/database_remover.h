#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "documents/database.h"
#include "indexing/commit_steps.h"
#include "storage/store.h"

namespace hearth::engine {

// Removes what deleted databases have left on disk: indexes, documents, history and log. It works
// in small steps between commits, so commits to other databases hardly notice. What is left to do
// is on disk (kDatabaseRemainsKeyPrefix), so a removal resumes after a restart.
//
// Threads: safe for concurrent use; one thread of its own does the work. Ownership: borrows the
// store and the committer. Errors of the store are logged, and the work is retried.
class DatabaseRemover {
 public:
  static constexpr size_t kStepKeysMax = 1'000;

  // Removes the database's indexes, and then calls back.
  using ForgetIndexes = std::function<void(model::DatabaseNumber, std::function<void()>)>;

  // Finds the removals that a restart has interrupted.
  static Result<std::unique_ptr<DatabaseRemover>> Load(storage::Store& store);
  ~DatabaseRemover();
  DatabaseRemover(const DatabaseRemover&) = delete;
  DatabaseRemover& operator=(const DatabaseRemover&) = delete;

  // Call Start once, before anything else. Call Stop before the committer ends.
  void Start(indexing::CommitSteps& committer, ForgetIndexes forget_indexes) EXCLUDES_LOCK(mutex_);
  void Stop() EXCLUDES_LOCK(mutex_);

  // Notes in the batch that deletes the database that it has to be removed.
  static void StageAdd(const documents::Database& database, storage::Batch* batch);
  // Starts to remove it. Call this once that batch is stored, and no commit to the database
  // follows.
  void Add(const documents::Database& database) EXCLUDES_LOCK(mutex_);

  // The names of the databases that are being removed.
  std::vector<std::string> Remaining() const EXCLUDES_LOCK(mutex_);
  // Waits until there are none.
  void AwaitIdle() EXCLUDES_LOCK(mutex_);

 private:
  enum class Outcome : uint8_t { kDone, kStopped };

  explicit DatabaseRemover(storage::Store& store) : store_(store) {}

  void Run() EXCLUDES_LOCK(mutex_);
  bool stopping() const EXCLUDES_LOCK(mutex_);
  // The functions below run on the thread.
  Outcome Remove(model::DatabaseNumber number) EXCLUDES_LOCK(mutex_);
  void AwaitIndexesForgotten(model::DatabaseNumber number) EXCLUDES_LOCK(mutex_);
  Status RemoveSome(storage::Space space, const std::string& prefix, bool* finished);
  Status RemoveNote(model::DatabaseNumber number);
  // Waits a little after an error.
  void PauseAfter(const Status& status) EXCLUDES_LOCK(mutex_);

  storage::Store& store_;
  indexing::CommitSteps* committer_ = nullptr;
  ForgetIndexes forget_indexes_;

  mutable Mutex mutex_;  // Leaf lock.
  CondVar changed_;
  std::map<model::DatabaseNumber, std::string> remaining_ GUARDED_BY(mutex_);  // Names.
  bool are_indexes_forgotten_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hearth::engine
