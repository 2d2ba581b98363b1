#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/connected_client.h"
#include "base/memory_budget.h"
#include "base/mutex.h"
#include "base/role.h"
#include "base/status.h"
#include "base/turn_pool.h"
#include "documents/database.h"
#include "request/listen.h"
#include "watch/change_feed.h"
#include "watch/reader.h"
#include "watch/target.h"
#include "watch/watch_delta.h"
#include "watch/watch_memory.h"
#include "watch/watch_sink.h"

namespace hearth::watch {

struct WatcherOptions {
  // Limit on changes that wait for the client to read. Beyond it they are dropped, and later read
  // again from the log.
  ChangesMax pending_max{10'000, 8 * 1024 * 1024};
  // Limit on changes read from the log. Beyond it, results are read from scratch.
  ChangesMax catch_up_max{10'000, 16 * 1024 * 1024};
  // The same for pairs of a target and a changed document.
  size_t catch_up_pairs_max = 100'000;
  // For targets and changes. Targets that cannot be covered are refused or end; changes are dropped
  // as well. Null: unlimited.
  MemoryBudget* memory = nullptr;
};

// The live targets of one client: sends their results, then the changes to them. Whenever it
// announces a moment, all targets are at that moment of the database.
//
// It handles one thing at a time, on one of the watchers' threads: a request of the client, or the
// pending changes. Those are bounded; dropped changes are read again from the log, or if that is
// too much, the targets are reset. Events are encoded only while the client reads.
//
// Threads: safe for concurrent use. Ownership: shared by the client's stream and the work in
// progress; owns the sink. Borrows the rest.
class Watcher final : public ChangeFeed::Subscriber, public std::enable_shared_from_this<Watcher> {
 public:
  static constexpr size_t kTargetsMax = 20'000;

  // Runs on `threads` in the turns of `client`, one step at a time.
  Watcher(Reader& reader, ChangeFeed& change_feed, TurnPool& threads, ClientKey client,
          const documents::Database& database, const WatcherOptions& options,
          std::unique_ptr<WatchSink> sink);
  ~Watcher() override;

  // `request` may be the error that made it unusable; the client gets it in turn. `id`: not 0, and
  // not in use.
  void AddTarget(request::TargetId id, Result<request::TargetRequest> request)
      EXCLUDES_LOCK(mutex_);
  // No effect if there is no such target.
  void RemoveTarget(request::TargetId id) EXCLUDES_LOCK(mutex_);
  // The number of queued requests.
  size_t waiting_requests() const EXCLUDES_LOCK(mutex_);
  // Ends the stream once all earlier requests are answered.
  void EndWhenAnswered() EXCLUDES_LOCK(mutex_);
  // Ends the stream: nothing more is sent, except by a step that is already running.
  void Close() EXCLUDES_LOCK(mutex_);

  ClientKey client() const override { return client_; }
  void OnChanges(ChangeFeed::Delivery delivery, std::vector<ChangeFeed::Item> items,
                 model::Timestamp through) override EXCLUDES_LOCK(mutex_);

 private:
  struct Load;
  struct Request {
    request::TargetId id;
    std::optional<Result<request::TargetRequest>> target;  // Absent: remove the target.
    WatchMemory memory = {};                               // For the target.
  };
  // What one step works on.
  struct Work {
    std::optional<Request> request;
    bool is_lost = false;
    bool is_heartbeat = false;
    std::vector<ChangeFeed::Item> items;
    WatchMemory memory = {};  // For the items.
    std::optional<model::Timestamp> through;
  };
  // Changes that are being sent.
  struct Advance {
    enum class Cause : uint8_t { kCatchUp, kChanges, kHeartbeat };
    Cause cause;
    model::Timestamp through;
    WatchMemory memory;
    WatchMessages messages = {};
    // The target that resumes; null if these are the changes of all live targets.
    std::unique_ptr<TargetState> target = nullptr;
    std::optional<request::ExistenceFilterEvent> filter = {};
  };
  struct MasksInOrder {
    bool operator()(const std::shared_ptr<const Mask>& left,
                    const std::shared_ptr<const Mask>& right) const {
      return *left < *right;
    }
  };
  enum class Progress : uint8_t { kDone, kWaiting };

  WatchMemory NewMemory() const { return {options_.memory, client_}; }
  void Enqueue(Request request) EXCLUDES_LOCK(mutex_);
  void DropPending() REQUIRES_LOCK(mutex_);
  void Schedule() EXCLUDES_LOCK(mutex_);
  void PostSteps();
  void WaitForReader() EXCLUDES_LOCK(mutex_);
  // From now on there is no work. Returns the targets that were registered.
  ChangeFeed::TargetNumbers StopTakingWork() EXCLUDES_LOCK(mutex_);
  void RunSteps() EXCLUDES_LOCK(mutex_);
  // What to do after a step.
  enum class After : uint8_t { kAnotherStep, kReaderFirst, kNewWork, kNothing };
  // One step of the work in progress.
  After Continue() EXCLUDES_LOCK(mutex_);
  void Do(Work work) EXCLUDES_LOCK(mutex_);
  bool HasEnded() const EXCLUDES_LOCK(mutex_);
  bool HasWork() const EXCLUDES_LOCK(mutex_);
  // Whether everything has been answered and no more requests will come.
  bool IsAtEnd() const EXCLUDES_LOCK(mutex_) REQUIRES_LOCK(step_);
  // kNone: there is nothing to do, and the watcher is no longer scheduled.
  enum class Taken : uint8_t { kWork, kNone, kClosed };
  Taken TakeWork(Work* work) EXCLUDES_LOCK(mutex_);
  bool IsRemovalNext(request::TargetId id) const EXCLUDES_LOCK(mutex_);

  // The functions below run in steps, one at a time.
  // To be called in every loop. An error, also if the client has left, ends the step.
  Status Pause();
  // Frees what the targets hold.
  void Discard() REQUIRES_LOCK(step_);

  void Handle(Request request) REQUIRES_LOCK(step_);
  // An error if this stream cannot have the target.
  Status Check(const Result<request::TargetRequest>& request) const REQUIRES_LOCK(step_);
  void Start(Request request) REQUIRES_LOCK(step_);
  void Remove(request::TargetId id, const Status& cause) REQUIRES_LOCK(step_);
  // Ends a target that is not, or no longer, among the live ones.
  void Fail(std::unique_ptr<TargetState> target, const Status& cause) REQUIRES_LOCK(step_);
  // False if Close came first; then the target is no longer registered.
  bool NoteRegistered(TargetNumber number) EXCLUDES_LOCK(mutex_);
  void Unregister(TargetNumber number) EXCLUDES_LOCK(mutex_);
  std::shared_ptr<const Mask> Share(Mask mask) REQUIRES_LOCK(step_);

  // Sends the results at `read_time`, step by step.
  void StartLoad(std::unique_ptr<TargetState> target, model::Timestamp read_time)
      REQUIRES_LOCK(step_);
  void ContinueLoad() REQUIRES_LOCK(step_);
  Result<Progress> LoadDocuments(Load& load) REQUIRES_LOCK(step_);
  Result<Progress> LoadResults(Load& load) REQUIRES_LOCK(step_);
  void FinishTarget(std::unique_ptr<TargetState> target, model::Timestamp read_time)
      REQUIRES_LOCK(step_);

  // The changes since the client's last state. Null if the results have to be read from scratch.
  using Resumed = Result<std::unique_ptr<Advance>>;
  Resumed Resume(TargetState& target, const request::TargetRequest::Resume& resume,
                 model::Timestamp to) REQUIRES_LOCK(step_);
  struct Span {
    model::Timestamp from;
    model::Timestamp to;
  };
  // Each adds the changes to `advance`. False if they are too many.
  Result<bool> ResumeQuery(TargetState& target, const Span& span, Advance& advance)
      REQUIRES_LOCK(step_);
  Result<bool> ResumeDocuments(const TargetState& target, const Span& span, Advance& advance)
      REQUIRES_LOCK(step_);
  // `expected_count`: of the results before.
  Result<bool> ResumeWindow(TargetState& target, const Span& span,
                            std::optional<size_t> expected_count, Advance& advance)
      REQUIRES_LOCK(step_);
  // False if there is no memory for it.
  Result<bool> AddExistenceFilter(const TargetState& target, Advance& advance) REQUIRES_LOCK(step_);

  // The query to run for the target's results: a window also needs the results in its offset.
  static query::NormalizedQuery QueryOf(const TargetState& target);
  Result<std::unique_ptr<Results>> QueryAt(const TargetState& target, model::Timestamp read_time);
  static std::unique_ptr<ResultWindow> NewWindow(const TargetState& target);
  // Reads a window's results and passes the visible ones to `visit` until it returns false. Null if
  // there is no memory for the window.
  Result<std::unique_ptr<ResultWindow>> ReadWindow(const TargetState& target,
                                                   model::Timestamp read_time,
                                                   const ResolveMeans::Visit& visit)
      REQUIRES_LOCK(step_);

  void Deliver(Work work) REQUIRES_LOCK(step_);
  Status CollectChanges(const Work& work, WatchDelta* delta) REQUIRES_LOCK(step_);
  // Recovers from lost changes.
  void CatchUp() REQUIRES_LOCK(step_);
  // The same for targets that were sent the same moment. False if there are too many changes.
  Result<bool> CatchUpGroup(const std::vector<TargetState*>& group, const Span& span,
                            Advance& advance) REQUIRES_LOCK(step_);
  // Adds the effect of the changes to `advance`.
  Status Resolve(const WatchDelta& delta, Advance& advance) REQUIRES_LOCK(step_);
  void StartAdvance(std::unique_ptr<Advance> advance) REQUIRES_LOCK(step_);
  void ContinueAdvance() REQUIRES_LOCK(step_);
  void EndStream(const Status& status) REQUIRES_LOCK(step_);
  // Restarts one target of `to_reset_`.
  void Reset() REQUIRES_LOCK(step_);
  // Tells the client that all targets are at this moment, unless one of them is ahead of it.
  void Announce(model::Timestamp through) REQUIRES_LOCK(step_);

  Reader& reader_;
  ChangeFeed& change_feed_;
  TurnPool& threads_;
  const ClientKey client_;
  const documents::ConstDatabaseHandle database_handle_;  // Shared with the catalogue.
  const documents::Database& database_;
  const WatcherOptions options_;
  const std::unique_ptr<WatchSink> sink_;
  std::stop_source closing_;  // Ends a step that waits for its turn.

  mutable Mutex mutex_;
  std::deque<Request> requests_ GUARDED_BY(mutex_);
  std::vector<ChangeFeed::Item> pending_ GUARDED_BY(mutex_);
  size_t pending_bytes_ GUARDED_BY(mutex_) = 0;
  WatchMemory pending_memory_ GUARDED_BY(mutex_);
  std::optional<model::Timestamp> pending_through_ GUARDED_BY(mutex_);
  bool is_lost_ GUARDED_BY(mutex_) = false;
  bool is_heartbeat_ GUARDED_BY(mutex_) = false;
  bool is_scheduled_ GUARDED_BY(mutex_) = false;
  bool waits_for_reader_ GUARDED_BY(mutex_) = false;  // Then it is scheduled too.
  bool is_ending_ GUARDED_BY(mutex_) = false;
  bool is_closed_ GUARDED_BY(mutex_) = false;
  ChangeFeed::TargetNumbers registered_ GUARDED_BY(mutex_);

  // Held by the thread that runs a step; steps run one after another.
  Role step_;
  std::map<request::TargetId, std::unique_ptr<TargetState>> targets_ GUARDED_BY(step_);
  std::unordered_map<TargetNumber, TargetState*> targets_by_number_ GUARDED_BY(step_);
  std::set<std::shared_ptr<const Mask>, MasksInOrder> masks_ GUARDED_BY(step_);
  std::unique_ptr<Load> load_ GUARDED_BY(step_);
  std::unique_ptr<Advance> advance_ GUARDED_BY(step_);
  std::deque<request::TargetId> to_reset_ GUARDED_BY(step_);
  model::Timestamp newest_read_time_ GUARDED_BY(step_);  // The maximum over all targets.
  bool is_unannounced_ GUARDED_BY(step_) =
      false;  // The client got events that Announce has to confirm.
};

}  // namespace hearth::watch
