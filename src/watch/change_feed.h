#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/connected_client.h"
#include "base/fair_share.h"
#include "base/mutex.h"
#include "base/status.h"
#include "documents/commit_clock.h"
#include "model/document_key.h"
#include "model/timestamp.h"
#include "watch/change.h"
#include "watch/target.h"
#include "watch/target_index.h"

namespace hearth::watch {

// Delivers committed changes to its subscribers. Each gets only the changes that concern its
// targets.
//
// A dedicated thread matches changes with targets, so the cost of a commit does not depend on the
// number of targets. For each change it does a bounded amount of this for each client; changes that
// the client's other targets may be concerned with are delivered unchecked, for the subscriber to
// check in the turns of its client. If the thread still cannot keep up, it drops changes and
// reports the loss; the log on disk has them all.
//
// Threads: safe for concurrent use. Ownership: borrows the clocks. Subscribers are held weakly.
class ChangeFeed {
 public:
  static constexpr size_t kQueuedBytesMax = 64 * 1024 * 1024;
  // Shared by clients.
  static constexpr size_t kTargetsMax = 200'000;
  // Items that are matched before any are delivered, for one subscriber and for all. Beyond these
  // limits, the changes for this subscriber, or for the one with the most items, are lost.
  static constexpr size_t kParcelItemsMax = 10'000;
  static constexpr size_t kRoundItemsMax = 1'000'000;
  // Matching for one change and one client: the bytes of the change, times the comparisons of each
  // query.
  static constexpr size_t kMatchedBytesMax = 32 * 1024 * 1024;
  // Queries and documents that are unregistered before the next changes are matched.
  static constexpr size_t kUnregisteredAtOnceMax = 1'000;
  // Idle subscribers get a heartbeat after this long.
  static constexpr std::chrono::seconds kHeartbeatPeriod{30};

  struct Item {
    std::shared_ptr<const Change> change;  // Shared by all subscribers concerned.
    TargetNumber target;
  };
  // A delivery can be several of these; it reports the last of them in this order.
  enum class Delivery : uint8_t {
    kChanges,  // Items, or an answer to Mark.
    kHeartbeat,
    kLost,  // Items are missing.
  };
  // Runs on the feed's thread and must not block.
  class Subscriber {
   public:
    virtual ~Subscriber() = default;
    virtual ClientKey client() const { return ClientKey::kInternal; }
    // All changes up to `through` that concern its targets have been delivered, unless some were
    // lost.
    virtual void OnChanges(Delivery delivery, std::vector<Item> items,
                           model::Timestamp through) = 0;
  };

  struct Limits {
    size_t queued_bytes = kQueuedBytesMax;
    size_t targets = kTargetsMax;
    size_t parcel_items = kParcelItemsMax;
    size_t round_items = kRoundItemsMax;
    size_t matched_bytes = kMatchedBytesMax;
  };
  ChangeFeed(documents::CommitClock& commit_clock, const Clock& clock)
      : ChangeFeed(commit_clock, clock, Limits()) {}
  ChangeFeed(documents::CommitClock& commit_clock, const Clock& clock, const Limits& limits);
  ~ChangeFeed();
  ChangeFeed(const ChangeFeed&) = delete;
  ChangeFeed& operator=(const ChangeFeed&) = delete;

  void Start();
  // After it returns, no subscriber is called.
  void Stop() EXCLUDES_LOCK(mutex_);

  // From now on, changes that concern the target are delivered to the subscriber. ResourceExhausted
  // if its client has had its share of targets.
  Result<TargetNumber> Register(const std::shared_ptr<Subscriber>& subscriber,
                                model::DatabaseNumber database,
                                std::shared_ptr<const Target> target) EXCLUDES_LOCK(targets_mutex_);
  // Takes numbers that are registered. Returns at once, however many they are: changes may be
  // delivered for them for a while.
  using TargetNumbers = std::unordered_set<TargetNumber>;
  void Unregister(TargetNumbers numbers) EXCLUDES_LOCK(mutex_);

  // Makes the commits that were assigned a time visible, and delivers their changes.
  void MakeVisible(std::vector<Change> changes) EXCLUDES_LOCK(mutex_);

  // Returns a moment to read at: every later change that concerns a target registered before will
  // be delivered. The subscriber also gets a delivery once nothing up to that moment is missing.
  model::Timestamp Mark(const std::shared_ptr<Subscriber>& subscriber) EXCLUDES_LOCK(mutex_);

  // The subscribers with targets in the database get a delivery.
  void Wake(model::DatabaseNumber database) EXCLUDES_LOCK(mutex_);

  // Sends due heartbeats. Call it periodically.
  void Maintain() EXCLUDES_LOCK(mutex_);

  size_t targets() const { return registered_; }

 private:
  struct Registration {
    std::weak_ptr<Subscriber> subscriber;
    model::DatabaseNumber database;
    std::shared_ptr<const Target> target;  // Shared with the subscriber.
    ClientKey client;
    size_t comparisons;  // What it takes to match a record with the target.
  };
  // Changes that became visible together, or a mark.
  struct Entry {
    std::vector<Change> changes;
    model::Timestamp through;
    std::weak_ptr<Subscriber> marked_by;
    bool is_heartbeat = false;
    std::optional<model::DatabaseNumber> woken = {};
  };
  class Round;

  void Run() EXCLUDES_LOCK(mutex_);
  void Dispatch(std::deque<Entry> entries, bool is_lost) EXCLUDES_LOCK(targets_mutex_);
  void DispatchChange(Change change, Round& round) EXCLUDES_LOCK(targets_mutex_);
  void TellAll(Delivery delivery, Round& round) EXCLUDES_LOCK(targets_mutex_);
  void RemoveSome() EXCLUDES_LOCK(mutex_) EXCLUDES_LOCK(targets_mutex_);
  void Enqueue(Entry entry) REQUIRES_LOCK(mutex_);

  documents::CommitClock& commit_clock_;
  const Clock& clock_;
  const Limits limits_;

  Mutex mutex_;  // Taken before the commit clock's, so that visibility and the queue agree.
  CondVar changed_;
  std::deque<Entry> queue_ GUARDED_BY(mutex_);
  size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
  bool is_lost_ GUARDED_BY(mutex_) = false;
  std::deque<TargetNumbers> unregistered_ GUARDED_BY(mutex_);  // To be removed.
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point next_heartbeat_ GUARDED_BY(mutex_);

  mutable Mutex targets_mutex_;  // Leaf lock.
  uint64_t next_number_ GUARDED_BY(targets_mutex_) = 1;
  TargetIndex index_ GUARDED_BY(targets_mutex_);
  std::unordered_map<TargetNumber, Registration> registrations_ GUARDED_BY(targets_mutex_);
  SharedPlaces places_ GUARDED_BY(targets_mutex_);

  std::atomic<size_t> registered_ = 0;  // Without those that are to be removed.

  std::thread thread_;
};

}  // namespace hearth::watch
