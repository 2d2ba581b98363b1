// For tests: a client that processes a watcher's events like an SDK.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "model/document.h"
#include "watch/bloom_filter.h"
#include "watch/watch_sink.h"

namespace hearth::engine {

// The client's state of one of its targets.
struct TargetView {
  struct Document {
    model::Timestamp update_time;
    model::Record record;
    std::optional<std::vector<model::FieldPath>> mask;
  };
  struct Filter {
    size_t count;
    watch::BloomFilter names;
  };

  std::map<std::string, Document> documents = {};
  std::set<std::string> missing = {};  // Reported as not existing.
  bool is_current = false;
  model::Timestamp read_time = {};
  std::string resume_token = {};
  std::optional<Filter> filter = {};
  size_t resets = 0;

  std::vector<std::string> Paths() const {
    std::vector<std::string> paths;
    for (const auto& [path, document] : documents) paths.push_back(path);
    return paths;
  }
};

// The targets that were current when the server announced that all of them are at one moment.
struct WatchSnapshot {
  model::Timestamp read_time;
  std::string resume_token;
  std::map<request::TargetId, TargetView> targets;
};

// Processes events, and lets tests wait for their effects. Tests control how slowly it reads.
//
// Threads: safe for concurrent use. Ownership: shared by the test and the sink, which a watcher
// owns.
class WatchClient : public std::enable_shared_from_this<WatchClient> {
 public:
  struct State {
    std::map<request::TargetId, TargetView> targets;
    std::map<request::TargetId, Status> removed;  // With the cause.
    std::vector<WatchSnapshot> snapshots;
    std::vector<std::string> faults;  // Violations of the protocol by the server.
    std::optional<Status> end;
    size_t document_events = 0;
    size_t requests_taken = 0;
    bool waits_for_reader = false;  // The watcher waits until the client has read.
  };
  enum class Speed {
    kReads,
    kStopped,
    kStopsWhenFull,  // Accepts as many events as SetSpeed allows.
  };

  static std::shared_ptr<WatchClient> New() { return std::make_shared<WatchClient>(); }

  std::unique_ptr<watch::WatchSink> NewSink() { return std::make_unique<Sink>(shared_from_this()); }

  // Starts the target with the documents kept from an earlier one.
  void Keep(request::TargetId id, TargetView view) {
    MutexLock lock(mutex_);
    view.is_current = false;
    view.filter.reset();
    kept_[id] = std::move(view);
  }

  // With `events_max`, the watcher has to wait after that many events, even if the client reads.
  void SetSpeed(Speed speed, size_t events_max = 1'000'000) {
    Task callback;
    {
      MutexLock lock(mutex_);
      speed_ = speed;
      events_max_ = events_max;
      if (speed == Speed::kReads) callback = TakeCallback();
    }
    if (callback) callback();
  }

  // The connection is lost.
  void Disconnect() {
    Task dropped;
    MutexLock lock(mutex_);
    is_closed_ = true;
    dropped = TakeCallback();
  }

  // Waits until `holds` returns true.
  void Await(const std::function<bool(const State&)>& holds) {
    MutexLock lock(mutex_);
    while (!holds(state_)) changed_.Wait(mutex_);
  }
  State Now() {
    MutexLock lock(mutex_);
    return state_;
  }
  WatchSnapshot AwaitSnapshot(model::Timestamp at_least) {
    return AwaitSnapshotThat(
        [&](const WatchSnapshot& snapshot) { return snapshot.read_time >= at_least; });
  }
  // Waits for a snapshot that contains the target.
  WatchSnapshot AwaitSnapshotOf(request::TargetId id) {
    return AwaitSnapshotThat(
        [&](const WatchSnapshot& snapshot) { return snapshot.targets.contains(id); });
  }
  // Returns the cause.
  Status AwaitRemoved(request::TargetId id) {
    Status cause;
    Await([&](const State& state) {
      const auto found = state.removed.find(id);
      if (found != state.removed.end()) cause = found->second;
      return found != state.removed.end();
    });
    return cause;
  }
  Status AwaitEnd() {
    Status end;
    Await([&](const State& state) {
      if (state.end) end = *state.end;
      return state.end.has_value();
    });
    return end;
  }

  // Moves out the snapshots since the last call.
  std::vector<WatchSnapshot> TakeSnapshots() {
    MutexLock lock(mutex_);
    return std::exchange(state_.snapshots, {});
  }

 private:
  class Sink final : public watch::WatchSink {
   public:
    explicit Sink(std::shared_ptr<WatchClient> client) : client_(std::move(client)) {}

    void Send(const request::TargetEvent& event) override { client_->Take(event); }
    void Send(const request::DocumentEvent& event) override { client_->Take(event); }
    void Send(const request::DocumentGoneEvent& event) override { client_->Take(event); }
    void Send(const request::ExistenceFilterEvent& event) override { client_->Take(event); }
    void Flush() override {}
    bool IsFull() const override { return client_->IsFull(); }
    void WhenWritable(Task callback) override { client_->WhenWritable(std::move(callback)); }
    void OnRequestTaken(size_t) override { client_->OnRequestTaken(); }
    void End(const Status& status) override { client_->End(status); }
    bool closed() const override { return client_->IsClosed(); }

   private:
    const std::shared_ptr<WatchClient> client_;
  };

  // Considers the newest snapshot.
  WatchSnapshot AwaitSnapshotThat(const std::function<bool(const WatchSnapshot&)>& fits) {
    WatchSnapshot snapshot;
    Await([&](const State& state) {
      if (state.snapshots.empty() || !fits(state.snapshots.back())) return false;
      snapshot = state.snapshots.back();
      return true;
    });
    return snapshot;
  }

  void Take(const request::TargetEvent& event) {
    MutexLock lock(mutex_);
    if (!NoteEvent()) return;
    if (event.kind == request::TargetEvent::Kind::kNoChange) {
      TakeSnapshot(event);
    } else {
      for (const request::TargetId id : event.targets) TakeTargetEvent(id, event);
    }
  }

  void TakeSnapshot(const request::TargetEvent& event) REQUIRES_LOCK(mutex_) {
    if (!event.targets.empty() || !event.read_time || event.resume_token.empty()) {
      return Fault("a snapshot must be of all targets, with a time and a token");
    }
    if (*event.read_time < newest_snapshot_) Fault("a snapshot older than the last one");
    newest_snapshot_ = *event.read_time;
    WatchSnapshot& snapshot =
        state_.snapshots.emplace_back(WatchSnapshot{*event.read_time, event.resume_token, {}});
    for (const auto& [id, view] : state_.targets) {
      if (view.is_current) snapshot.targets.emplace(id, view);
    }
  }

  void TakeTargetEvent(request::TargetId id, const request::TargetEvent& event)
      REQUIRES_LOCK(mutex_) {
    using Kind = request::TargetEvent::Kind;
    if (event.kind == Kind::kAdd) {
      if (state_.targets.contains(id)) Fault("a target added twice");
      state_.targets[id] = std::exchange(kept_[id], {});
      return;
    }
    TargetView* view = Find(id);
    if (!view) return;
    if (event.kind == Kind::kRemove) {
      state_.targets.erase(id);
      state_.removed[id] = event.cause;
    } else if (event.kind == Kind::kCurrent) {
      if (!event.read_time || event.resume_token.empty()) return Fault("current since when?");
      view->is_current = true;
      view->read_time = *event.read_time;
      view->resume_token = event.resume_token;
    } else {
      *view = {.resets = view->resets + 1};
    }
  }

  void Take(const request::DocumentEvent& event) {
    MutexLock lock(mutex_);
    if (!NoteEvent()) return;
    ++state_.document_events;
    const std::string& path = event.path.path();
    if (event.targets.empty() || !event.record) return Fault("a document of no target: " + path);
    for (const request::TargetId id : event.targets) {
      TargetView* view = Find(id);
      if (!view) continue;
      view->missing.erase(path);
      view->documents[path] = {model::RecordUpdateTime(*event.record), event.record, event.mask};
    }
    for (const request::TargetId id : event.removed) Remove(id, path);
  }

  void Take(const request::DocumentGoneEvent& event) {
    MutexLock lock(mutex_);
    if (!NoteEvent()) return;
    ++state_.document_events;
    if (event.removed.empty()) Fault("gone from no target: " + event.path);
    for (const request::TargetId id : event.removed) {
      Remove(id, event.path);
      TargetView* view = Find(id);
      const bool is_deleted = event.reason == request::DocumentGoneEvent::Reason::kDeleted;
      if (view && is_deleted) view->missing.insert(event.path);
    }
  }

  void Take(const request::ExistenceFilterEvent& event) {
    MutexLock lock(mutex_);
    if (!NoteEvent()) return;
    if (TargetView* view = Find(event.target)) {
      view->filter = {event.count, watch::BloomFilter(event.unchanged_names)};
    }
  }

  void Remove(request::TargetId id, const std::string& path) REQUIRES_LOCK(mutex_) {
    if (TargetView* view = Find(id)) view->documents.erase(path);
  }

  TargetView* Find(request::TargetId id) REQUIRES_LOCK(mutex_) {
    const auto found = state_.targets.find(id);
    if (found == state_.targets.end()) Fault("no target " + std::to_string(id));
    return found == state_.targets.end() ? nullptr : &found->second;
  }

  // False if the client has disconnected and gets no events: its queries have been cancelled.
  bool NoteEvent() REQUIRES_LOCK(mutex_) {
    if (state_.end) Fault("an event after the end");
    ++unread_events_;
    changed_.NotifyAll();
    return !is_closed_;
  }
  void Fault(std::string fault) REQUIRES_LOCK(mutex_) { state_.faults.push_back(std::move(fault)); }

  bool IsFull() {
    MutexLock lock(mutex_);
    return speed_ == Speed::kStopped || unread_events_ >= events_max_;
  }
  void WhenWritable(Task callback) {
    {
      MutexLock lock(mutex_);
      unread_events_ = 0;
      if (is_closed_) return;
      if (speed_ != Speed::kReads) {
        callback_ = std::move(callback);
        state_.waits_for_reader = true;
        changed_.NotifyAll();
        return;
      }
    }
    callback();
  }
  Task TakeCallback() REQUIRES_LOCK(mutex_) {
    state_.waits_for_reader = false;
    return std::exchange(callback_, nullptr);
  }
  void OnRequestTaken() {
    MutexLock lock(mutex_);
    ++state_.requests_taken;
    changed_.NotifyAll();
  }
  void End(const Status& status) {
    MutexLock lock(mutex_);
    if (state_.end) Fault("ended twice");
    if (is_closed_) return;  // As above.
    state_.end = status;
    is_closed_ = true;
    changed_.NotifyAll();
  }
  bool IsClosed() {
    MutexLock lock(mutex_);
    return is_closed_;
  }

  Mutex mutex_;  // Leaf lock.
  CondVar changed_;
  State state_ GUARDED_BY(mutex_);
  std::map<request::TargetId, TargetView> kept_ GUARDED_BY(mutex_);
  model::Timestamp newest_snapshot_ GUARDED_BY(mutex_);
  Speed speed_ GUARDED_BY(mutex_) = Speed::kReads;
  size_t events_max_ GUARDED_BY(mutex_) = 1'000'000;
  size_t unread_events_ GUARDED_BY(mutex_) = 0;
  Task callback_ GUARDED_BY(mutex_);
  bool is_closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace hearth::engine
