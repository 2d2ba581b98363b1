#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "apps/feed/queue/feed_queue.h"
#include "apps/feed/stores/collections.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace hearth::feed {

// The queue as documents: one per event, deleted when it is finished. `available_at` is when it may
// be taken next; taking it moves that by `idle_max`.
//
// Documents are named by publication time. A database that keeps history has to skip everything
// that was deleted recently. So each search starts at the oldest event found last time (a little
// before it, for clock skew), and now and then at the beginning.
//
// Several processes may share it. A waiting process is woken by its own events at once, and finds
// those of others when it polls, every kAskEvery.
//
// Threads: safe for concurrent use. Ownership: borrows the clock.
class DocumentFeedQueue final : public FeedQueue {
 public:
  // Dead letters are kept for inspection, for a limited time (a TTL policy on `expires_at`).
  static constexpr std::chrono::hours kDeadLetterLifetime{30 * 24};
  // How much the clocks of publishers may differ before an event has to wait for the next full
  // search.
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
  // One attempt of a transaction that takes the documents that are still available.
  Status Claim(client::Transaction& transaction,
               const std::vector<client::DocumentReference>& documents,
               std::vector<Delivery>* deliveries) const;
  client::Timestamp Now() const;
  client::Timestamp WhenIdle() const;
  client::Map DeadLetter(client::Map event, const std::string& reason) const;

  const Clock& clock_;
  const Collections collections_;
  const std::chrono::milliseconds idle_max_;
  Mutex taking_;  // One thread at a time takes events, to avoid conflicts. First.
  std::string oldest_name_ GUARDED_BY(taking_);  // Where to start the search.
  int64_t everything_due_micros_ GUARDED_BY(taking_) = 0;
  Mutex mutex_;  // Leaf lock.
  CondVar news_;
  uint64_t published_ GUARDED_BY(mutex_) = 0;
  bool stopped_ GUARDED_BY(mutex_) = false;
};

}  // namespace hearth::feed
