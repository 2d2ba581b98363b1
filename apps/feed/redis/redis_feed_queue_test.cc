#include "apps/feed/redis/redis_feed_queue.h"

#include <gtest/gtest.h>

#include "apps/feed/testing/feed_queue_contract.h"
#include "apps/feed/testing/redis_server.h"
#include "base/testing/fake_clock.h"

namespace hearth::feed {
namespace {

constexpr std::chrono::milliseconds kNoPatience{0};
constexpr RedisTimes kPatientTimes{std::chrono::seconds(20), std::chrono::seconds(20), {}};
const FeedEvent kEvent{.kind = FeedEvent::Kind::kPostCreated,
                       .author_id = UserId{501},
                       .post = {1'732'900'000, PostId{7}}};

// Redis measures the idle time of entries; tests can also set it.
class RedisQueueFixture final : public FeedQueueFixture {
 public:
  // `server`: the one that holds the stream.
  RedisQueueFixture(RedisServer& server, const std::vector<RedisAddress>& addresses)
      : server_(server),
        client_(clock_, metrics_, addresses, kPatientTimes),
        other_client_(clock_, metrics_, addresses, kPatientTimes) {}

  FeedQueue& queue() override { return queue_; }
  FeedQueue& other() override { return other_; }
  void PassIdleTime() override { SetIdle(FeedQueue::kIdleMax + std::chrono::milliseconds(1)); }
  // Short enough that a busy machine does not reach the limit.
  void PassAlmostIdleTime() override { SetIdle(FeedQueue::kIdleMax / 2); }
  void PublishNonsense() override {
    server_.Command({"XADD", "stream:feed", "*", "kind", "post_created", "author_id", "many"});
  }

 private:
  void SetIdle(std::chrono::milliseconds idle) {
    const RedisReply pending =
        server_.Command({"XPENDING", "stream:feed", "feed_workers", "-", "+", "1000"});
    for (const RedisReply& row : pending.elements) {
      server_.Command({"XCLAIM", "stream:feed", "feed_workers", row.elements.at(1).text, "0",
                       row.elements.at(0).text, "IDLE", std::to_string(idle.count()), "JUSTID"});
    }
  }

  RedisServer& server_;
  FakeClock clock_{0};
  Metrics metrics_;
  RedisClient client_;
  RedisClient other_client_;
  RedisFeedQueue queue_{client_};
  RedisFeedQueue other_{other_client_};
};

std::unique_ptr<FeedQueueFixture> MakeRedisQueueFixture() {
  static RedisServer server;
  server.Flush();
  return std::make_unique<RedisQueueFixture>(server, std::vector<RedisAddress>{server.address()});
}

std::unique_ptr<FeedQueueFixture> MakeClusterQueueFixture() {
  static RedisCluster cluster;
  cluster.CommandEverywhere({"FLUSHALL"});
  return std::make_unique<RedisQueueFixture>(cluster.node(cluster.HomeOf("stream:feed")),
                                             cluster.addresses());
}

INSTANTIATE_TEST_SUITE_P(Redis, FeedQueueContract, testing::Values(&MakeRedisQueueFixture));
INSTANTIATE_TEST_SUITE_P(RedisCluster, FeedQueueContract,
                         testing::Values(&MakeClusterQueueFixture));

class RedisFeedQueueTest : public testing::Test {
 protected:
  RedisServer server_;
  FakeClock clock_{0};
  Metrics metrics_;
  RedisClient client_{clock_, metrics_, {server_.address()}, kPatientTimes};
  RedisFeedQueue queue_{client_};
};

TEST_F(RedisFeedQueueTest, WhatWasPublishedBeforeAnybodyAskedIsDelivered) {
  ASSERT_TRUE(queue_.Publish(kEvent).ok());
  EXPECT_EQ(queue_.Take(kNoPatience)->size(), 1u);
}

TEST_F(RedisFeedQueueTest, CarriesOnAfterAFlush) {
  ASSERT_TRUE(queue_.Publish(kEvent).ok());
  const std::vector<FeedQueue::Delivery> taken = *queue_.Take(kNoPatience);
  ASSERT_EQ(taken.size(), 1u);
  server_.Flush();
  EXPECT_TRUE(queue_.KeepAlive(taken[0]).ok());
  EXPECT_TRUE(queue_.Finish(taken[0]).ok());
  EXPECT_TRUE(queue_.Take(kNoPatience)->empty());
  server_.Flush();
  ASSERT_TRUE(queue_.Publish(kEvent).ok());
  EXPECT_EQ(queue_.Take(kNoPatience)->size(), 1u);
}

TEST_F(RedisFeedQueueTest, ADeadLetterSaysWhatItWasAndWhy) {
  ASSERT_TRUE(queue_.Publish(kEvent).ok());
  std::vector<FeedQueue::Delivery> taken = *queue_.Take(kNoPatience);
  ASSERT_EQ(taken.size(), 1u);
  taken[0].tries = FeedQueue::kTriesMax;
  ASSERT_TRUE(queue_.Fail(taken[0], Status(Code::kInternal, "it broke")).ok());
  const RedisReply dead = server_.Command({"XRANGE", "stream:feed:dead", "-", "+"});
  ASSERT_EQ(dead.elements.size(), 1u);
  std::vector<std::string> fields;
  for (const RedisReply& field : dead.elements[0].elements[1].elements)
    fields.push_back(field.text);
  EXPECT_EQ(fields,
            (std::vector<std::string>{"kind", "post_created", "author_id", "501", "post_id", "7",
                                      "created_at", "1732900000", "user_id", "0", "version", "0",
                                      "event", taken[0].id, "error", "INTERNAL: it broke"}));
}

TEST_F(RedisFeedQueueTest, AServerThatIsGoneIsUnavailable) {
  server_.Kill();
  EXPECT_EQ(queue_.Publish(kEvent).code(), Code::kUnavailable);
  EXPECT_EQ(queue_.Take(kNoPatience).status().code(), Code::kUnavailable);
  EXPECT_EQ(queue_.Measure().status().code(), Code::kUnavailable);
  EXPECT_EQ(queue_.Finish({"1-1", kEvent, 1}).code(), Code::kUnavailable);
  EXPECT_EQ(queue_.KeepAlive({"1-1", kEvent, 1}).code(), Code::kUnavailable);
}

}  // namespace
}  // namespace hearth::feed
