#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/callback.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "documents/database.h"
#include "expiry/sweep_pace.h"
#include "index/index_config.h"
#include "indexing/index_registry.h"
#include "request/write.h"
#include "storage/store.h"

namespace hearth::expiry {

// The status of one TTL policy.
struct TtlStatus {
  index::TtlPolicy policy;
  bool is_indexed = false;  // Nothing expires before the index is ready.
  uint64_t deleted = 0;     // Since the start.
  // By how much the oldest remaining document has outlived its expiry.
  std::chrono::microseconds late{0};
};

// Deletes expired documents: those whose TTL field, plus the policy's offset, is in the past.
//
// Each deletion is a commit of its own, on the condition that the document has not changed since.
// While clients commit, the sweep leaves them nearly all of the committer's time: see SweepPace.
// The policies of all databases take turns, so a backlog that grows faster than it is swept does
// not keep the others waiting.
//
// Threads: safe for concurrent use. Ownership: borrows all that it is given. Errors are logged, and
// failed deletions are retried with the next sweep, or after kTurnsBeforeRetry.
class TtlSweeper {
 public:
  static constexpr std::chrono::milliseconds kPeriod{1'000};
  // Steps of one policy, before the next one has its turn.
  static constexpr size_t kStepsPerTurn = 8;
  // After so many turns without a failure, a policy whose backlog does not end starts over if
  // documents could not be deleted before: about once a minute while clients commit.
  static constexpr size_t kTurnsBeforeRetry = 32;

  // What the sweeper needs from the engine.
  struct Hooks {
    std::function<std::vector<documents::DatabaseHandle>()> databases;
    std::function<std::vector<index::TtlPolicy>(const documents::Database&)> policies;
    std::function<Result<model::Record>(const documents::Database&, const model::DocumentPath&)>
        get;
    // Calls back on any thread.
    std::function<void(documents::Database&, request::Write, Callback<void(Status)>)> commit;
    // The number of commits that have ended, the sweeper's own included.
    std::function<uint64_t()> commits;
  };

  TtlSweeper(const storage::Store& store, const Clock& clock,
             const indexing::IndexRegistry& indexes, Hooks hooks);
  ~TtlSweeper();
  TtlSweeper(const TtlSweeper&) = delete;
  TtlSweeper& operator=(const TtlSweeper&) = delete;

  void Start();
  void Stop() EXCLUDES_LOCK(mutex_);

  // Deletes everything that has expired by now, after any turn in progress. Returns the number of
  // deleted documents.
  size_t Sweep() EXCLUDES_LOCK(mutex_);

  // Drops the counts of a deleted database.
  void Forget(model::DatabaseNumber database) EXCLUDES_LOCK(mutex_);
  std::vector<TtlStatus> StatusOf(const documents::Database& database) const EXCLUDES_LOCK(mutex_);

 private:
  struct Progress {
    uint64_t deleted = 0;
    std::chrono::microseconds late{0};
  };
  // A document that seems to have expired, and the key of its index entry.
  struct Candidate {
    std::string entry_key;
    model::DocumentPath path;
    int64_t expired_at_micros;
  };
  // Where a policy's sweep is.
  struct Turn {
    index::IndexNumber index{};
    std::string after;                          // The key of the last entry, in that index.
    size_t turns = 0;                           // Since the last failed deletion.
    std::optional<int64_t> oldest_left_micros;  // Over documents that could not be deleted.
    size_t deleted = 0;                         // In the newest turn.
    bool is_finished = false;
  };
  struct Outcome {
    size_t deleted = 0;
    size_t tried = 0;
    std::optional<int64_t> oldest_left_micros;  // Over those that could not be deleted.
  };

  void Run() EXCLUDES_LOCK(mutex_);
  bool stopping() const EXCLUDES_LOCK(mutex_);
  enum class From : uint8_t { kBeginning, kLastTurn };
  // Gives every policy its turn. Returns the number of deleted documents.
  size_t SweepRound(From from, bool* is_finished) EXCLUDES_LOCK(mutex_);
  std::optional<index::Index> IndexOf(const documents::Database& database,
                                      const index::TtlPolicy& policy) const;
  // The policy's turn, from where the one before ended.
  Status SweepPolicy(documents::Database& database, const index::TtlPolicy& policy, Turn* turn)
      EXCLUDES_LOCK(mutex_);
  // The first ones after the entry `after`, at most `max`.
  Result<std::vector<Candidate>> FindExpired(const index::Index& index, int64_t cutoff_micros,
                                             const std::string& after, size_t max) const;
  Outcome Delete(documents::Database& database, const index::TtlPolicy& policy,
                 int64_t cutoff_micros, const std::vector<Candidate>& candidates);
  // Waits, unless the sweeper is stopping.
  void Pause(std::chrono::microseconds duration) EXCLUDES_LOCK(mutex_);
  void Note(const documents::Database& database, const index::TtlPolicy& policy, uint64_t deleted,
            std::chrono::microseconds late) EXCLUDES_LOCK(mutex_);

  const storage::Store& store_;
  const Clock& clock_;
  const indexing::IndexRegistry& indexes_;
  const Hooks hooks_;
  mutable Mutex mutex_;  // Leaf lock.
  CondVar changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool is_sweeping_ GUARDED_BY(mutex_) = false;
  // The next two are only used while is_sweeping_, by the thread that sweeps.
  SweepPace pace_;
  // Of the policies that have not finished.
  std::map<std::pair<model::DatabaseNumber, std::string>, Turn> turns_;
  std::map<std::pair<model::DatabaseNumber, std::string>, Progress> progress_ GUARDED_BY(mutex_);
  std::thread thread_;
};

// The index that a policy needs.
index::Definition TtlIndex(const index::TtlPolicy& policy);

}  // namespace hearth::expiry
