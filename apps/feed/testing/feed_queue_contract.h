// For tests: the contract of every FeedQueue.
//
// The suite is in the library `feed_queue_contract`. A test program links it and names the queues
// to run it on:
//
//   INSTANTIATE_TEST_SUITE_P(Redis, FeedQueueContract, testing::Values(&MakeRedisQueueFixture));
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "apps/feed/queue/feed_queue.h"

namespace hearth::feed {

// An empty queue with controlled time.
class FeedQueueFixture {
 public:
  virtual ~FeedQueueFixture() = default;

  virtual FeedQueue& queue() = 0;
  // The same queue as seen by another process.
  virtual FeedQueue& other() = 0;
  // Long enough that events which were taken, and neither finished nor kept alive, are redelivered.
  virtual void PassIdleTime() = 0;
  // A little less than that.
  virtual void PassAlmostIdleTime() = 0;
  // Puts something that is not an event into the queue.
  virtual void PublishNonsense() = 0;
};

using MakeFeedQueue = std::unique_ptr<FeedQueueFixture> (*)();

class FeedQueueContract : public testing::TestWithParam<MakeFeedQueue> {
 protected:
  FeedQueueContract() : fixture_(GetParam()()), queue_(fixture_->queue()) {}

  // Without waiting; fails the test on an error.
  std::vector<FeedQueue::Delivery> Take(FeedQueue& queue);
  std::vector<FeedQueue::Delivery> Take() { return Take(queue_); }
  void ExpectDepth(int64_t waiting, int64_t dead);

  std::unique_ptr<FeedQueueFixture> fixture_;
  FeedQueue& queue_;
};

}  // namespace hearth::feed
