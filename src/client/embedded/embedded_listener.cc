#include "client/embedded/embedded_listener.h"

#include <map>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "client/embedded/embedded_records.h"
#include "model/document.h"
#include "query/normalize.h"
#include "watch/live_query.h"
#include "watch/watch_sink.h"
#include "watch/watcher.h"

namespace hearth::client {
namespace {

using model::Timestamp;
using request::TargetEvent;
using request::TargetRequest;

constexpr request::TargetId kTarget = 1;

thread_local bool is_listener_thread = false;

// A result and its position in the order.
struct Placed {
  std::string place;
  TransportDocument document;
};

// Changes since the last consistent state.
struct Staged {
  std::unordered_map<std::string, std::optional<Placed>> documents = {};  // Nullopt: removed.
  bool is_reset = false;  // Documents that are not in the map are removed too.
};

// The results of one target at its newest consistent state, and the callback that gets them.
//
// Threads: safe for concurrent use. Ownership: shared by the listener's handle, the watcher's sink
// and the running callback.
class LiveResults : public std::enable_shared_from_this<LiveResults> {
 public:
  enum class Iteration : uint8_t { kForward, kBackward };

  LiveResults(ThreadPool& threads, Iteration iteration, Transport::OnState on_state,
              ListenerSlot slot)
      : slot_(std::move(slot)),
        threads_(threads),
        iteration_(iteration),
        callback_(std::make_shared<Transport::OnState>(std::move(on_state))) {}

  // Applies all staged changes at once.
  void Publish(Staged staged, Timestamp read_time) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    const bool has_changed = Apply(std::move(staged));
    const bool is_first = !std::exchange(was_published_, true);
    read_time_ = read_time;
    if (!has_changed && !is_first) return;
    has_news_ = true;
    Schedule();
  }

  // Nothing follows an error.
  void Fail(const Status& error) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    if (!error_.ok()) return;
    error_ = error;
    has_news_ = true;
    Schedule();
  }

  // When this returns, no callback is running (except the one that called this) and none will run.
  void Stop() EXCLUDES_LOCK(mutex_) {
    std::shared_ptr<Transport::OnState> callback;  // Destroyed after the lock is released.
    MutexLock lock(mutex_);
    is_stopped_ = true;
    callback = std::move(callback_);
    while (is_running_ && runner_ != std::this_thread::get_id()) idle_.Wait(mutex_);
  }

  bool is_stopped() const EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return is_stopped_;
  }

 private:
  bool Apply(Staged staged) REQUIRES_LOCK(mutex_) {
    if (staged.is_reset) {
      for (const auto& [path, place] : places_) staged.documents.try_emplace(path, std::nullopt);
    }
    bool has_changed = false;
    for (auto& [path, placed] : staged.documents) {
      if (Apply(path, std::move(placed))) has_changed = true;
    }
    return has_changed;
  }

  bool Apply(const std::string& path, std::optional<Placed> placed) REQUIRES_LOCK(mutex_) {
    std::optional<Timestamp> old_time;
    if (const auto found = places_.find(path); found != places_.end()) {
      const auto old = results_.find(found->second);
      old_time = model::RecordUpdateTime(*old->second.record);
      results_.erase(old);
      places_.erase(found);
    }
    if (!placed) return old_time.has_value();
    const Timestamp new_time = model::RecordUpdateTime(*placed->document.record);
    places_.emplace(path, placed->place);
    results_.emplace(std::move(placed->place), std::move(placed->document));
    return old_time != new_time;
  }

  // The task is posted under the lock: after Stop the threads may be gone.
  void Schedule() REQUIRES_LOCK(mutex_) {
    if (is_scheduled_ || is_stopped_) return;
    is_scheduled_ = true;
    // The queue has room for one task per slot.
    CHECK(threads_.TryPost([self = shared_from_this()] { self->Run(); }));
  }

  void Run() EXCLUDES_LOCK(mutex_) {
    is_listener_thread = true;
    std::shared_ptr<Transport::OnState> callback;
    std::optional<Result<ListenState>> state;
    {
      MutexLock lock(mutex_);
      if (is_stopped_) return;
      callback = callback_;
      state = TakeState();
      is_running_ = true;
      runner_ = std::this_thread::get_id();
    }
    (*callback)(*std::move(state));
    MutexLock lock(mutex_);
    is_running_ = false;
    is_scheduled_ = false;
    if (has_news_) Schedule();
    idle_.NotifyAll();
  }

  Result<ListenState> TakeState() REQUIRES_LOCK(mutex_) {
    has_news_ = false;
    if (!error_.ok()) return error_;
    ListenState state{{}, read_time_};
    state.documents.reserve(results_.size());
    if (iteration_ == Iteration::kForward) {
      for (const auto& [place, document] : results_) state.documents.push_back(document);
    } else {
      for (auto it = results_.rbegin(); it != results_.rend(); ++it) {
        state.documents.push_back(it->second);
      }
    }
    return state;
  }

  const ListenerSlot slot_;
  ThreadPool& threads_;
  const Iteration iteration_;

  mutable Mutex mutex_;  // Only the threads' queue is locked below it.
  CondVar idle_;
  // Shared with the running call, which may be the one that calls Stop.
  std::shared_ptr<Transport::OnState> callback_ GUARDED_BY(mutex_);
  std::map<std::string, TransportDocument> results_ GUARDED_BY(mutex_);  // By position.
  std::unordered_map<std::string, std::string> places_ GUARDED_BY(mutex_);
  Timestamp read_time_ GUARDED_BY(mutex_);
  Status error_ GUARDED_BY(mutex_);
  bool was_published_ GUARDED_BY(mutex_) = false;
  bool has_news_ GUARDED_BY(mutex_) = false;
  bool is_scheduled_ GUARDED_BY(mutex_) = false;
  bool is_running_ GUARDED_BY(mutex_) = false;
  std::thread::id runner_ GUARDED_BY(mutex_);
  bool is_stopped_ GUARDED_BY(mutex_) = false;
};

// Turns a watcher's events into consistent states.
//
// It is never full: it holds the results and the changes since the last state, which the watcher
// already bounds.
class ListenerSink final : public watch::WatchSink {
 public:
  // `query`: null for a document target.
  ListenerSink(std::shared_ptr<LiveResults> results, std::unique_ptr<watch::LiveQuery> query)
      : results_(std::move(results)), query_(std::move(query)) {}

  void Send(const TargetEvent& event) override {
    switch (event.kind) {
      case TargetEvent::Kind::kNoChange:
        if (!is_current_ || !event.read_time) return;
        return results_->Publish(std::exchange(staged_, {}), *event.read_time);
      case TargetEvent::Kind::kAdd:
        return;
      case TargetEvent::Kind::kRemove:
        return Fail(event.cause);
      case TargetEvent::Kind::kCurrent:
        is_current_ = true;
        return;
      case TargetEvent::Kind::kReset:
        is_current_ = false;
        staged_ = {.is_reset = true};
        return;
    }
  }

  void Send(const request::DocumentEvent& event) override {
    const std::optional<std::string> place =
        query_ ? query_->PlaceOf(event.path, event.record) : event.path.path();
    CHECK(place.has_value());  // The watcher found it to match.
    staged_.documents.insert_or_assign(
        event.path.path(), Placed{*place, {event.path, Project(event.record, event.mask)}});
  }

  void Send(const request::DocumentGoneEvent& event) override {
    staged_.documents.insert_or_assign(event.path, std::nullopt);
  }

  void Send(const request::ExistenceFilterEvent&) override {}  // Sent only on resume.
  void Flush() override {}
  bool IsFull() const override { return false; }
  void WhenWritable(Task callback) override { callback(); }
  void OnRequestTaken(size_t) override {}
  void End(const Status& status) override { Fail(status); }
  bool closed() const override { return results_->is_stopped(); }

 private:
  void Fail(const Status& cause) {
    results_->Fail(cause.ok() ? Status(Code::kUnavailable, "The listener has ended.") : cause);
  }

  const std::shared_ptr<LiveResults> results_;  // Shared with the listener's handle.
  const std::unique_ptr<watch::LiveQuery> query_;
  Staged staged_;
  bool is_current_ = false;
};

class EmbeddedListener final : public TransportListener {
 public:
  EmbeddedListener(std::shared_ptr<void> keeps_alive, std::shared_ptr<LiveResults> results,
                   std::shared_ptr<watch::Watcher> watcher)
      : keeps_alive_(std::move(keeps_alive)),
        results_(std::move(results)),
        watcher_(std::move(watcher)) {}
  ~EmbeddedListener() override {
    watcher_->Close();
    results_->Stop();
  }

 private:
  const std::shared_ptr<void> keeps_alive_;  // Shared by all users of the transport.
  const std::shared_ptr<LiveResults> results_;
  const std::shared_ptr<watch::Watcher> watcher_;  // Shared with work in flight.
};

struct QueryTarget {
  TargetRequest request;
  std::unique_ptr<watch::LiveQuery> query;  // A second copy, for the positions of results.
};

Result<QueryTarget> ReadQueryTarget(const documents::Database& database, query::Query query) {
  if (query.nearest) {
    return InvalidArgument("Queries for nearest neighbors cannot be listened to.");
  }
  QueryTarget target;
  target.request.mask = std::exchange(query.select, std::nullopt);
  ASSIGN_OR_RETURN(query::NormalizedQuery normalized, query::Normalize(std::move(query)));
  target.query = std::make_unique<watch::LiveQuery>(database.name, normalized);
  target.request.target = std::move(normalized);
  return target;
}

}  // namespace

Result<std::unique_ptr<TransportListener>> StartListening(
    engine::Engine& engine, documents::Database& database, ThreadPool& threads, ListenTarget target,
    Transport::OnState on_state, ListenerSlot slot, std::shared_ptr<void> keeps_alive) {
  QueryTarget read;
  if (target.query) {
    ASSIGN_OR_RETURN(read, ReadQueryTarget(database, *std::move(target.query)));
  } else if (target.document) {
    read.request.target = std::vector<model::DocumentPath>{*std::move(target.document)};
  } else {
    return InvalidArgument("A target must have a query or documents.");
  }
  using Iteration = LiveResults::Iteration;
  const Iteration iteration =
      read.query && read.query->layout().backward ? Iteration::kBackward : Iteration::kForward;
  auto results =
      std::make_shared<LiveResults>(threads, iteration, std::move(on_state), std::move(slot));
  std::shared_ptr<watch::Watcher> watcher =
      engine.Watch(database, std::make_unique<ListenerSink>(results, std::move(read.query)));
  watcher->AddTarget(kTarget, std::move(read.request));
  return std::make_unique<EmbeddedListener>(std::move(keeps_alive), std::move(results),
                                            std::move(watcher));
}

bool IsListenerThread() { return is_listener_thread; }

}  // namespace hearth::client
