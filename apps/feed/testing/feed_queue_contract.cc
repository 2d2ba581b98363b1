#include "apps/feed/testing/feed_queue_contract.h"

#include <algorithm>
#include <set>
#include <thread>

namespace hearth::feed {
namespace {

using Delivery = FeedQueue::Delivery;
using std::chrono::milliseconds;

constexpr milliseconds kNoPatience{0};
const Status kReason(Code::kUnavailable, "the database was away");

FeedEvent Created(int64_t post) {
  return {.kind = FeedEvent::Kind::kPostCreated,
          .author_id = UserId{501},
          .post = {1'732'900'000, PostId{post}}};
}

}  // namespace

std::vector<Delivery> FeedQueueContract::Take(FeedQueue& queue) {
  Result<std::vector<Delivery>> taken = queue.Take(kNoPatience);
  EXPECT_TRUE(taken.ok()) << taken.status().ToString();
  return taken.ok() ? *taken : std::vector<Delivery>();
}

void FeedQueueContract::ExpectDepth(int64_t waiting, int64_t dead) {
  const Result<FeedQueue::Depth> depth = queue_.Measure();
  ASSERT_TRUE(depth.ok()) << depth.status().ToString();
  EXPECT_EQ(depth->waiting, waiting);
  EXPECT_EQ(depth->dead, dead);
}

namespace {

TEST_P(FeedQueueContract, EveryKindOfEventArrivesAsItWas) {
  const std::vector<FeedEvent> events = {Created(7),
                                         {.kind = FeedEvent::Kind::kPostDeleted,
                                          .author_id = UserId{501},
                                          .post = {1'732'900'000, PostId{7}}},
                                         {.kind = FeedEvent::Kind::kUserFollowed,
                                          .author_id = UserId{501},
                                          .user_id = UserId{404},
                                          .following_version = 12},
                                         {.kind = FeedEvent::Kind::kUserUnfollowed,
                                          .author_id = UserId{INT64_MAX},
                                          .user_id = UserId{404},
                                          .following_version = 13}};
  for (const FeedEvent& event : events) ASSERT_TRUE(queue_.Publish(event).ok());
  const std::vector<Delivery> taken = Take();
  ASSERT_EQ(taken.size(), events.size());
  for (const FeedEvent& event : events) {
    const auto is_it = [&](const Delivery& delivery) { return delivery.event == event; };
    const auto found = std::find_if(taken.begin(), taken.end(), is_it);
    ASSERT_NE(found, taken.end()) << ToString(event.kind);
    EXPECT_EQ(found->tries, 1);
  }
}

TEST_P(FeedQueueContract, AnEmptyQueueGivesNothing) {
  EXPECT_TRUE(Take().empty());
  EXPECT_TRUE(queue_.Take(milliseconds(1))->empty());
  ExpectDepth(0, 0);
}

TEST_P(FeedQueueContract, BatchesAreBoundedAndNothingComesTwice) {
  for (int64_t post = 1; post <= 25; ++post) ASSERT_TRUE(queue_.Publish(Created(post)).ok());
  std::set<PostId> posts;
  for (const size_t expected : {10u, 10u, 5u, 0u}) {
    FeedQueue& taker = posts.empty() ? queue_ : fixture_->other();
    const std::vector<Delivery> taken = Take(taker);
    EXPECT_EQ(taken.size(), expected);
    for (const Delivery& delivery : taken) posts.insert(delivery.event.post.id);
  }
  EXPECT_EQ(posts.size(), 25u);
  ExpectDepth(25, 0);  // Including those being processed.
}

TEST_P(FeedQueueContract, WhatIsFinishedNeverComesAgain) {
  ASSERT_TRUE(queue_.Publish(Created(1)).ok());
  const std::vector<Delivery> taken = Take();
  ASSERT_EQ(taken.size(), 1u);
  ASSERT_TRUE(queue_.Finish(taken[0]).ok());
  ASSERT_TRUE(queue_.Finish(taken[0]).ok());
  fixture_->PassIdleTime();
  EXPECT_TRUE(Take().empty());
  ExpectDepth(0, 0);
}

TEST_P(FeedQueueContract, WhatNobodyFinishesComesToAnybodyAfterAWhile) {
  ASSERT_TRUE(queue_.Publish(Created(1)).ok());
  ASSERT_EQ(Take().size(), 1u);
  fixture_->PassAlmostIdleTime();
  EXPECT_TRUE(Take(fixture_->other()).empty());
  fixture_->PassIdleTime();
  const std::vector<Delivery> again = Take(fixture_->other());
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].event, Created(1));
  EXPECT_EQ(again[0].tries, 2);
}

TEST_P(FeedQueueContract, KeepingAliveIsNoTryAndPutsOffTheNext) {
  ASSERT_TRUE(queue_.Publish(Created(1)).ok());
  const std::vector<Delivery> taken = Take();
  ASSERT_EQ(taken.size(), 1u);
  for (int i = 0; i < 5; ++i) {
    fixture_->PassAlmostIdleTime();
    ASSERT_TRUE(queue_.KeepAlive(taken[0]).ok());
  }
  fixture_->PassAlmostIdleTime();
  EXPECT_TRUE(Take(fixture_->other()).empty());
  fixture_->PassIdleTime();
  const std::vector<Delivery> again = Take();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].tries, 2);
}

TEST_P(FeedQueueContract, KeepingAliveWhatIsFinishedDoesNotBringItBack) {
  ASSERT_TRUE(queue_.Publish(Created(1)).ok());
  const std::vector<Delivery> taken = Take();
  ASSERT_EQ(taken.size(), 1u);
  ASSERT_TRUE(queue_.Finish(taken[0]).ok());
  IgnoreError(queue_.KeepAlive(taken[0]), "whether that is an error is left to the queue");
  fixture_->PassIdleTime();
  EXPECT_TRUE(Take().empty());
}

TEST_P(FeedQueueContract, ThreeFailuresMakeADeadLetter) {
  ASSERT_TRUE(queue_.Publish(Created(1)).ok());
  for (int tries = 1; tries <= FeedQueue::kTriesMax; ++tries) {
    ExpectDepth(1, 0);
    const std::vector<Delivery> taken = Take();
    ASSERT_EQ(taken.size(), 1u) << tries;
    EXPECT_EQ(taken[0].tries, tries);
    ASSERT_TRUE(queue_.Fail(taken[0], kReason).ok());
    fixture_->PassIdleTime();
  }
  EXPECT_TRUE(Take().empty());
  ExpectDepth(0, 1);
}

TEST_P(FeedQueueContract, ThreeDeliveriesThatNobodyFinishesMakeADeadLetter) {
  ASSERT_TRUE(queue_.Publish(Created(1)).ok());
  for (int tries = 1; tries <= FeedQueue::kTriesMax; ++tries) {
    ASSERT_EQ(Take().size(), 1u) << tries;
    fixture_->PassIdleTime();
  }
  EXPECT_TRUE(Take().empty());
  ExpectDepth(0, 1);
}

TEST_P(FeedQueueContract, WhatIsNoEventBecomesADeadLetterAndHoldsUpNothing) {
  fixture_->PublishNonsense();
  ASSERT_TRUE(queue_.Publish(Created(1)).ok());
  const std::vector<Delivery> taken = Take();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].event, Created(1));
  ExpectDepth(1, 1);
}

TEST_P(FeedQueueContract, MoreThanABatchThatWasLeftBehindComesAgain) {
  for (int64_t post = 1; post <= 35; ++post) ASSERT_TRUE(queue_.Publish(Created(post)).ok());
  while (!Take().empty()) {
  }
  fixture_->PassIdleTime();
  std::set<PostId> posts;
  for (std::vector<Delivery> taken = Take(); !taken.empty(); taken = Take()) {
    for (const Delivery& delivery : taken) {
      posts.insert(delivery.event.post.id);
      ASSERT_TRUE(queue_.Finish(delivery).ok());
    }
  }
  EXPECT_EQ(posts.size(), 35u);
  ExpectDepth(0, 0);
}

TEST_P(FeedQueueContract, SomebodyWhoWaitsIsWoken) {
  Result<std::vector<Delivery>> taken = std::vector<Delivery>();
  std::thread waiting([&] { taken = queue_.Take(std::chrono::minutes(2)); });
  ASSERT_TRUE(fixture_->other().Publish(Created(1)).ok());
  waiting.join();
  ASSERT_TRUE(taken.ok()) << taken.status().ToString();
  ASSERT_EQ(taken->size(), 1u);
  EXPECT_EQ((*taken)[0].event, Created(1));
}

TEST_P(FeedQueueContract, StopEndsWaitingNowAndLater) {
  Result<std::vector<Delivery>> taken = std::vector<Delivery>();
  std::thread waiting([&] { taken = queue_.Take(std::chrono::hours(24)); });
  queue_.Stop();
  waiting.join();
  EXPECT_TRUE(taken.ok() && taken->empty());
  EXPECT_TRUE(queue_.Take(std::chrono::hours(24))->empty());
}

}  // namespace
}  // namespace hearth::feed
