#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "apps/feed/collections.h"
#include "apps/feed/feed_queue.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace hearth::feed {

// The queue as documents of the database: one an event, deleted when it is done. `available_at`
// says from when it may be taken; whoever takes it moves that by `idle_max`.
//
// Several processes may share it. One learns of its own events at once, and of those of others when
// it asks again.
//
// Threads: safe for concurrent use. Ownership: borrows the clock.
class DocumentFeedQueue final : public FeedQueue {
 public:
  // Dead letters are kept for people to look at, not for ever (a TTL policy on `expires_at`).
  static constexpr std::chrono::hours kDeadLetterLifetime{30 * 24};

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
  Mutex mutex_;   // Leaf lock.
  CondVar news_;
  uint64_t published_ GUARDED_BY(mutex_) = 0;
  bool stopped_ GUARDED_BY(mutex_) = false;
};

}  // namespace hearth::feed
