#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
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
#include "watch/watch_sink.h"

namespace hearth::watch {

struct WatcherOptions {
  // Limit on changes that wait for the client to read. Beyond it they are dropped, and later read
  // again from the log.
  ChangesMax pending_max{10'000, 8 * 1024 * 1024};
  // Limit on changes read from the log. Beyond it, results are read from scratch.
  ChangesMax catch_up_max{10'000, 16 * 1024 * 1024};
  // For pending changes; without it they are dropped as well. Null: unlimited.
  MemoryBudget* memory = nullptr;
};

// The live targets of one client: sends their results, then the changes to them. Whenever it
// announces a moment, all targets are at that moment of the database.
//
// It handles one thing at a time, on one of the watchers' threads: a request of the client, or the
// pending changes. Those are bounded; dropped changes are read again from the log, or if that is
// too much, the targets are reset.
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

  void OnChanges(ChangeFeed::Delivery delivery, std::vector<ChangeFeed::Item> items,
                 model::Timestamp through) override EXCLUDES_LOCK(mutex_);

 private:
  struct Load;
  struct Request {
    request::TargetId id;
    std::optional<Result<request::TargetRequest>> target;  // Absent: remove the target.
  };
  // What one step works on.
  struct Work {
    std::optional<Request> request;
    bool is_lost = false;
    bool is_heartbeat = false;
    std::vector<ChangeFeed::Item> items;
    std::optional<model::Timestamp> through;
  };
  enum class Progress : uint8_t { kDone, kWaiting };

  void Enqueue(Request request) EXCLUDES_LOCK(mutex_);
  void DropPending() REQUIRES_LOCK(mutex_);
  void Schedule() EXCLUDES_LOCK(mutex_);
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
  // False if there is nothing to do; then the watcher is no longer scheduled.
  bool TakeWork(Work* work) EXCLUDES_LOCK(mutex_);
  bool IsRemovalNext(request::TargetId id) const EXCLUDES_LOCK(mutex_);

  // The functions below run in steps, one at a time.
  void Handle(Request request) REQUIRES_LOCK(step_);
  // An error if this stream cannot have the target.
  Status Check(const Result<request::TargetRequest>& request) const REQUIRES_LOCK(step_);
  void Start(request::TargetId id, request::TargetRequest request) REQUIRES_LOCK(step_);
  void Remove(request::TargetId id, const Status& cause) REQUIRES_LOCK(step_);
  // Ends a target that is not, or no longer, among the live ones.
  void Fail(std::unique_ptr<TargetState> target, const Status& cause);
  // False if Close came first; then the target is no longer registered.
  bool NoteRegistered(TargetNumber number) EXCLUDES_LOCK(mutex_);
  void Unregister(const TargetState& target) EXCLUDES_LOCK(mutex_);

  // Sends the results at `read_time`, step by step.
  void StartLoad(std::unique_ptr<TargetState> target, model::Timestamp read_time)
      REQUIRES_LOCK(step_);
  void ContinueLoad() REQUIRES_LOCK(step_);
  Result<Progress> LoadDocuments(Load& load) REQUIRES_LOCK(step_);
  Result<Progress> LoadResults(Load& load) REQUIRES_LOCK(step_);
  void FinishTarget(std::unique_ptr<TargetState> target, model::Timestamp read_time)
      REQUIRES_LOCK(step_);

  // Sends the changes since the client's last state. False if the results have to be read from
  // scratch.
  Result<bool> Resume(TargetState& target, const request::TargetRequest::Resume& resume,
                      model::Timestamp to) REQUIRES_LOCK(step_);
  Result<bool> ResumeDocuments(const TargetState& target, model::Timestamp from,
                               model::Timestamp to) REQUIRES_LOCK(step_);
  struct Span {
    model::Timestamp from;
    model::Timestamp to;
  };
  Result<bool> ResumeWindow(TargetState& target, const Span& span,
                            std::optional<size_t> expected_count) REQUIRES_LOCK(step_);
  // `changed`: the paths of the documents already sent to the client.
  Status SendExistenceFilter(TargetState& target, model::Timestamp read_time,
                             const std::set<std::string>& changed) REQUIRES_LOCK(step_);

  // The query to run for the target's results: a window also needs the results in its offset.
  static query::NormalizedQuery QueryOf(const TargetState& target);
  Result<std::unique_ptr<Results>> QueryAt(const TargetState& target, model::Timestamp read_time);
  // Reads a window's results again; returns the visible ones by path, with the records of the
  // wanted ones: all records may be too much to hold.
  using IsWanted = std::function<bool(const std::string& path, const model::Record& record)>;
  Result<std::map<std::string, model::Record>> RefillWindow(TargetState& target,
                                                            model::Timestamp read_time,
                                                            const IsWanted& is_wanted)
      REQUIRES_LOCK(step_);

  void Deliver(const Work& work) REQUIRES_LOCK(step_);
  // Recovers from lost changes.
  void CatchUp() REQUIRES_LOCK(step_);
  // False if it failed and the stream has ended.
  [[nodiscard]] bool AdvanceTo(const WatchDelta& delta, model::Timestamp through)
      REQUIRES_LOCK(step_);
  Status Apply(const WatchDelta& delta, model::Timestamp through) REQUIRES_LOCK(step_);
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

  mutable Mutex mutex_;
  std::deque<Request> requests_ GUARDED_BY(mutex_);
  std::vector<ChangeFeed::Item> pending_ GUARDED_BY(mutex_);
  size_t pending_bytes_ GUARDED_BY(mutex_) = 0;
  MemoryClaim pending_claim_ GUARDED_BY(mutex_);
  std::optional<model::Timestamp> pending_through_ GUARDED_BY(mutex_);
  bool is_lost_ GUARDED_BY(mutex_) = false;
  bool is_heartbeat_ GUARDED_BY(mutex_) = false;
  bool is_scheduled_ GUARDED_BY(mutex_) = false;
  bool is_ending_ GUARDED_BY(mutex_) = false;
  bool is_closed_ GUARDED_BY(mutex_) = false;
  std::set<TargetNumber> registered_ GUARDED_BY(mutex_);

  // Held by the thread that runs a step; steps run one after another.
  Role step_;
  std::map<request::TargetId, std::unique_ptr<TargetState>> targets_ GUARDED_BY(step_);
  std::unordered_map<TargetNumber, TargetState*> targets_by_number_ GUARDED_BY(step_);
  std::unique_ptr<Load> load_ GUARDED_BY(step_);
  std::deque<request::TargetId> to_reset_ GUARDED_BY(step_);
  model::Timestamp newest_read_time_ GUARDED_BY(step_);  // The maximum over all targets.
  bool is_unannounced_ GUARDED_BY(step_) =
      false;  // The client got events that Announce has to confirm.
};

}  // namespace hearth::watch
