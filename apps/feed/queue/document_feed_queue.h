#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "apps/feed/queue/feed_queue.h"
#include "apps/feed/stores/collections.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace hearth::feed {

// The queue as documents of the database: one an event, deleted when it is done. `available_at`
// says from when it may be taken; whoever takes it moves that by `idle_max`.
//
// Documents are named by when they were published. A database that remembers its past has to pass
// over all that was deleted lately; so each look at the queue begins where the oldest event was
// found the last time, a little before for clocks that differ, and now and then at the beginning.
//
// Several processes may share it. One that waits learns of its own events at once, and of those of
// others when it asks again, every kAskEvery.
//
// Threads: safe for concurrent use. Ownership: borrows the clock.
class DocumentFeedQueue final : public FeedQueue {
 public:
  // Dead letters are kept for people to look at, not for ever (a TTL policy on `expires_at`).
  static constexpr std::chrono::hours kDeadLetterLifetime{30 * 24};
  // How much the clocks of publishers may differ before an event has to wait for the next look at
  // everything.
  static constexpr std::chrono::seconds kClockSkew{10};
  static constexpr std::chrono::minutes kEverythingEvery{1};
  static constexpr size_t kEventsPerRead = 50;
  static constexpr std::chrono::milliseconds kAskEvery{500};

  DocumentFeedQueue(const Clock& clock, Collections collections,
                    std::chrono::milliseconds idle_max = kIdleMax);

  Status Publish(const FeedEvent& event) override EXCLUDES_LOCK(mutex_);
  Result<std::vector<Delivery>> Take(std::chrono::milliseconds patience) override
      EXCLUDES_LOCK(mutex_) EXCLUDES_LOCK(taking_);
  Status KeepAlive(const Delivery& delivery) override;
  Status Finish(const Delivery& delivery) override;
  Status Fail(const Delivery& delivery, const Status& reason) override;
  Result<Depth> Measure() override;
  void Stop() override EXCLUDES_LOCK(mutex_);

 private:
  Result<std::vector<Delivery>> TakeAvailable() EXCLUDES_LOCK(taking_);
  // At most kBatchMax.
  Result<std::vector<client::DocumentReference>> FindAvailable() REQUIRES_LOCK(taking_);
  // One attempt of a transaction that takes those of the documents that are still available.
  Status Claim(client::Transaction& transaction,
               const std::vector<client::DocumentReference>& documents,
               std::vector<Delivery>* deliveries) const;
  client::Timestamp Now() const;
  client::Timestamp WhenIdle() const;
  client::Map DeadLetter(client::Map event, const std::string& reason) const;

  const Clock& clock_;
  const Collections collections_;
  const std::chrono::milliseconds idle_max_;
  Mutex taking_;  // One thread at a time takes events, so that they do not want the same. First.
  std::string oldest_name_ GUARDED_BY(taking_);  // Where to begin to look.
  int64_t everything_due_micros_ GUARDED_BY(taking_) = 0;
  Mutex mutex_;  // Leaf lock.
  CondVar news_;
  uint64_t published_ GUARDED_BY(mutex_) = 0;
  bool stopped_ GUARDED_BY(mutex_) = false;
};

}  // namespace hearth::feed
