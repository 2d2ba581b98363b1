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
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
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
// number of targets. If the thread cannot keep up, it drops changes and reports the loss; the log
// on disk has them all.
//
// Threads: safe for concurrent use. Ownership: borrows the clocks. Subscribers are held weakly.
class ChangeFeed {
 public:
  static constexpr size_t kQueuedBytesMax = 64 * 1024 * 1024;
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
    // All changes up to `through` that concern its targets have been delivered, unless some were
    // lost.
    virtual void OnChanges(Delivery delivery, std::vector<Item> items,
                           model::Timestamp through) = 0;
  };

  // Queued changes take at most `queued_bytes_max`.
  ChangeFeed(documents::CommitClock& commit_clock, const Clock& clock,
             size_t queued_bytes_max = kQueuedBytesMax);
  ~ChangeFeed();
  ChangeFeed(const ChangeFeed&) = delete;
  ChangeFeed& operator=(const ChangeFeed&) = delete;

  void Start();
  // After it returns, no subscriber is called.
  void Stop() EXCLUDES_LOCK(mutex_);

  // From now on, changes that concern the target are delivered to the subscriber.
  TargetNumber Register(const std::shared_ptr<Subscriber>& subscriber,
                        model::DatabaseNumber database, std::shared_ptr<const Target> target)
      EXCLUDES_LOCK(targets_mutex_);
  void Unregister(TargetNumber number) EXCLUDES_LOCK(targets_mutex_);

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
  void Enqueue(Entry entry) REQUIRES_LOCK(mutex_);

  documents::CommitClock& commit_clock_;
  const Clock& clock_;
  const size_t queued_bytes_max_;

  Mutex mutex_;  // Taken before the commit clock's, so that visibility and the queue agree.
  CondVar changed_;
  std::deque<Entry> queue_ GUARDED_BY(mutex_);
  size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
  bool is_lost_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point next_heartbeat_ GUARDED_BY(mutex_);

  mutable Mutex targets_mutex_;  // Leaf lock.
  uint64_t next_number_ GUARDED_BY(targets_mutex_) = 1;
  TargetIndex index_ GUARDED_BY(targets_mutex_);
  std::unordered_map<TargetNumber, Registration> registrations_ GUARDED_BY(targets_mutex_);

  std::atomic<size_t> registered_ = 0;  // The size of registrations_, readable without the lock.

  std::thread thread_;
};

}  // namespace hearth::watch
