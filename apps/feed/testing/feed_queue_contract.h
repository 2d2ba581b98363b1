// For tests: what every FeedQueue promises.
//
// The suite is in the library `feed_queue_contract`. A test program links it and says which queues
// it is for:
//
//   INSTANTIATE_TEST_SUITE_P(Redis, FeedQueueContract, testing::Values(&MakeRedisQueueFixture));
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "apps/feed/queue/feed_queue.h"

namespace hearth::feed {

// A queue with nothing in it, and time as the test wants it.
class FeedQueueFixture {
 public:
  virtual ~FeedQueueFixture() = default;

  virtual FeedQueue& queue() = 0;
  // As another process sees the same queue.
  virtual FeedQueue& other() = 0;
  // Long enough for all that was taken, and neither finished nor kept alive, to come again.
  virtual void PassIdleTime() = 0;
  // A little less than that.
  virtual void PassAlmostIdleTime() = 0;
  // Puts something into the queue that is no event.
  virtual void PublishNonsense() = 0;
};

using MakeFeedQueue = std::unique_ptr<FeedQueueFixture> (*)();

class FeedQueueContract : public testing::TestWithParam<MakeFeedQueue> {
 protected:
  FeedQueueContract() : fixture_(GetParam()()), queue_(fixture_->queue()) {}

  // Without waiting; fails the test if that fails.
  std::vector<FeedQueue::Delivery> Take(FeedQueue& queue);
  std::vector<FeedQueue::Delivery> Take() { return Take(queue_); }
  void ExpectDepth(int64_t waiting, int64_t dead);

  std::unique_ptr<FeedQueueFixture> fixture_;
  FeedQueue& queue_;
};

}  // namespace hearth::feed
