#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "apps/feed/queue/feed_queue.h"
#include "base/mutex.h"

namespace hearth::feed {

// For tests: a queue that keeps the events that were published and delivers none of them.
//
// Threads: safe for concurrent use.
class RecordingFeedQueue final : public FeedQueue {
 public:
  std::vector<FeedEvent> Published() const EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return published_;
  }

  Status Publish(const FeedEvent& event) override EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    published_.push_back(event);
    return Status();
  }
  Result<std::vector<Delivery>> Take(std::chrono::milliseconds) override {
    return std::vector<Delivery>();
  }
  Status KeepAlive(const Delivery&) override { return Status(); }
  Status Finish(const Delivery&) override { return Status(); }
  Status Fail(const Delivery&, const Status&) override { return Status(); }
  Result<Depth> Measure() override EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return Depth{.waiting = static_cast<int64_t>(published_.size())};
  }
  void Stop() override {}

 private:
  mutable Mutex mutex_;  // Leaf lock.
  std::vector<FeedEvent> published_ GUARDED_BY(mutex_);
};

}  // namespace hearth::feed
