#include "apps/feed/redis/redis_feed_cache.h"

#include <gtest/gtest.h>

#include "apps/feed/testing/feed_cache_contract.h"
#include "apps/feed/testing/redis_server.h"
#include "base/testing/fake_clock.h"

namespace hearth::feed {
namespace {

constexpr UserId kUser{404};
const std::string kSet = "feed:user:404";
const std::string kMeta = "{feed:user:404}:meta";

class RedisFeedCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    epoch_ = EpochOf(cache_);
    Warm(cache_, epoch_, kUser, 1, {Key(30, 3), Key(20, 2), Key(10, 1)});
  }
  int64_t Integer(const std::vector<std::string>& command) {
    return server_.Command(command).integer;
  }

  RedisServer server_;
  FakeClock clock_{0};
  RandomSource random_;
  Metrics metrics_;
  RedisClient client_{clock_,
                      metrics_,
                      {server_.address()},
                      {std::chrono::seconds(20), std::chrono::seconds(20), {}}};
  RedisFeedCache cache_{client_, random_};
  std::string epoch_;
};

TEST_F(RedisFeedCacheTest, IsTheSortedSetOfTheSpecification) {
  const RedisReply set = server_.Command({"ZREVRANGE", kSet, "0", "-1", "WITHSCORES"});
  std::vector<std::string> texts;
  for (const RedisReply& element : set.elements) texts.push_back(element.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"3", "30", "2", "20", "1", "10"}));
  for (const std::string& key : {kSet, kMeta}) {
    server_.Command({"EXPIRE", key, "100"});
    ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Key(40, 4)).ok());
    EXPECT_LE(Integer({"TTL", key}), 100);  // Only reading renews it.
  }
  EXPECT_TRUE(HasCache(cache_, epoch_, kUser));
  for (const std::string& key : {kSet, kMeta}) {
    EXPECT_GT(Integer({"TTL", key}), 604'000);
    EXPECT_LE(Integer({"TTL", key}), 604'800);
  }
}

// Foreign changes to the keys of a cache.
class TamperedFeedCacheTest
    : public RedisFeedCacheTest,
      public testing::WithParamInterface<std::vector<std::vector<std::string>>> {
 protected:
  void Tamper() {
    for (const std::vector<std::string>& command : GetParam()) {
      ASSERT_FALSE(server_.Command(command).IsError());
    }
  }
};

TEST_P(TamperedFeedCacheTest, CountsAsNoneForReaders) {
  Tamper();
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
  EXPECT_EQ(Integer({"EXISTS", kSet, kMeta}), 0);
}

TEST_P(TamperedFeedCacheTest, IsNotMendedByWhatIsPushed) {
  Tamper();
  EXPECT_TRUE(cache_.Push(epoch_, {kUser}, Key(40, 4)).ok());
  EXPECT_TRUE(cache_.Remove({kUser}, PostId{2}).ok());
  EXPECT_TRUE(cache_.ApplyFollowing(kUser, {.version = 2, .added = {Key(50, 5)}}).ok());
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
}

TEST_P(TamperedFeedCacheTest, CanBeMadeAnew) {
  Tamper();
  Warm(cache_, epoch_, kUser, 1, {Key(30, 3)});
  EXPECT_EQ(ReadAll(cache_, epoch_, kUser), (std::vector<PostKey>{Key(30, 3)}));
}

INSTANTIATE_TEST_SUITE_P(
    All, TamperedFeedCacheTest,
    testing::Values(std::vector<std::vector<std::string>>{{"ZREM", kSet, "2"}},
                    std::vector<std::vector<std::string>>{{"ZADD", kSet, "25", "9"}},
                    // As many as before, but not the same.
                    std::vector<std::vector<std::string>>{{"ZREM", kSet, "3"},
                                                          {"ZADD", kSet, "5", "9"}},
                    std::vector<std::vector<std::string>>{{"HDEL", kMeta, "ends"}},
                    std::vector<std::vector<std::string>>{{"DEL", kSet}},
                    std::vector<std::vector<std::string>>{{"DEL", kMeta}},
                    std::vector<std::vector<std::string>>{{"SET", kSet, "text"}},
                    std::vector<std::vector<std::string>>{{"SET", kMeta, "text"}},
                    std::vector<std::vector<std::string>>{{"HDEL", kMeta, "count"}},
                    std::vector<std::vector<std::string>>{{"HSET", kMeta, "version", "text"}},
                    std::vector<std::vector<std::string>>{{"ZREMRANGEBYRANK", kSet, "0", "1"}}));

TEST_F(RedisFeedCacheTest, EntriesThatAreNoPostsEndTheCache) {
  server_.Command({"ZREM", kSet, "2"});
  server_.Command({"ZADD", kSet, "20", "text"});
  const Result<std::optional<FeedCache::Slice>> slice =
      cache_.Read(epoch_, kUser, std::nullopt, 10);
  ASSERT_TRUE(slice.ok());
  EXPECT_FALSE(slice->has_value());
  EXPECT_EQ(*cache_.Oldest(kUser), std::nullopt);
}

TEST_F(RedisFeedCacheTest, ALossWhileACacheIsMadeAbortsIt) {
  const std::string ticket = *cache_.BeginWarming(epoch_, kUser);
  ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Key(40, 4)).ok());
  server_.Command({"DEL", kSet});
  EXPECT_EQ(cache_.FinishWarming(kUser, ticket, 1, {Key(30, 3)}).code(), Code::kAborted);
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
}

TEST_F(RedisFeedCacheTest, AFlushEndsTheEpoch) {
  server_.Flush();
  EXPECT_EQ(cache_.ReadMark()->has_value(), false);
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
  EXPECT_EQ(cache_.MarkPushed(epoch_, Key(10, 1)).code(), Code::kAborted);
  EXPECT_NE(EpochOf(cache_, Key(10, 1)), epoch_);
  EXPECT_EQ(cache_.MarkPushed(epoch_, Key(20, 2)).code(), Code::kAborted);
}

TEST_F(RedisFeedCacheTest, ALostMarkMakesTheCachesOfBeforeCountNoMore) {
  server_.Command({"DEL", "{feed:fanout}:mark"});
  const std::string epoch = EpochOf(cache_);
  EXPECT_NE(epoch, epoch_);
  EXPECT_FALSE(HasCache(cache_, epoch, kUser));
}

TEST_F(RedisFeedCacheTest, AMarkThatCannotBeReadIsLost) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"SET", "{feed:fanout}:mark", "text"},
        std::vector<std::string>{"HSET", "{feed:fanout}:mark", "id", "text"},
        std::vector<std::string>{"HDEL", "{feed:fanout}:mark", "seconds"}}) {
    server_.Command(command);
    const Result<std::optional<FeedCache::Mark>> mark = cache_.ReadMark();
    ASSERT_TRUE(mark.ok());
    EXPECT_FALSE(mark->has_value());
    EpochOf(cache_);
  }
}

TEST_F(RedisFeedCacheTest, WhatWasAheadAndIsLostHoldsTheMarkUntilItIsPushedAgain) {
  ASSERT_TRUE(cache_.MarkPushed(epoch_, Key(20, 2)).ok());
  server_.Command({"SET", "{feed:fanout}:ahead", "text"});
  ASSERT_TRUE(cache_.MarkPushed(epoch_, Key(10, 1)).ok());
  EXPECT_EQ((*cache_.ReadMark())->newest, (Key(10, 1)));
  ASSERT_TRUE(cache_.MarkPushed(epoch_, Key(20, 2)).ok());
  EXPECT_EQ((*cache_.ReadMark())->newest, (Key(20, 2)));
}

TEST_F(RedisFeedCacheTest, RemembersABoundedNumberOfPostsAhead) {
  std::vector<std::string> fill = {"HSET", "{feed:fanout}:ahead"};
  for (int64_t id = 2; id < 2 + RedisFeedCache::kAheadMax; ++id) {
    fill.push_back(std::to_string(id));
    fill.push_back("1");
  }
  server_.Command(fill);
  const int64_t next = RedisFeedCache::kAheadMax + 2;
  EXPECT_EQ(cache_.MarkPushed(epoch_, Key(1, next)).code(), Code::kUnavailable);
  EXPECT_TRUE(cache_.MarkPushed(epoch_, Key(1, next - 1)).ok());
  ASSERT_TRUE(cache_.MarkPushed(epoch_, Key(1, 1)).ok());
  EXPECT_EQ((*cache_.ReadMark())->newest.id, PostId{next - 1});
}

TEST_F(RedisFeedCacheTest, WithoutMemoryReadsGoOnAndNothingIsHalfWritten) {
  server_.Command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(cache_.Push(epoch_, {kUser}, Key(40, 4)).code(), Code::kUnavailable);
  EXPECT_EQ(cache_.MarkPushed(epoch_, Key(10, 1)).code(), Code::kUnavailable);
  EXPECT_EQ(cache_.BeginWarming(epoch_, kUser).status().code(), Code::kUnavailable);
  EXPECT_EQ(ReadAll(cache_, epoch_, kUser).size(), 3u);
  EXPECT_TRUE(cache_.Remove({kUser}, PostId{3}).ok());
  server_.Command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(cache_.Push(epoch_, {kUser}, Key(40, 4)).ok());
  EXPECT_EQ(ReadAll(cache_, epoch_, kUser),
            (std::vector<PostKey>{Key(40, 4), Key(20, 2), Key(10, 1)}));
}

TEST_F(RedisFeedCacheTest, AServerThatIsGoneIsUnavailableForAll) {
  server_.Kill();
  EXPECT_EQ(cache_.ReadMark().status().code(), Code::kUnavailable);
  EXPECT_EQ(cache_.StartEpoch({}).code(), Code::kUnavailable);
  EXPECT_EQ(cache_.MarkPushed(epoch_, Key(10, 1)).code(), Code::kUnavailable);
  EXPECT_EQ(cache_.Read(epoch_, kUser, std::nullopt, 10).status().code(), Code::kUnavailable);
  EXPECT_EQ(cache_.BeginWarming(epoch_, kUser).status().code(), Code::kUnavailable);
  EXPECT_EQ(cache_.FinishWarming(kUser, "ticket", 1, {}).code(), Code::kUnavailable);
  EXPECT_EQ(cache_.Push(epoch_, {kUser}, Key(10, 1)).code(), Code::kUnavailable);
  EXPECT_EQ(cache_.Remove({kUser}, PostId{1}).code(), Code::kUnavailable);
  EXPECT_EQ(cache_.Oldest(kUser).status().code(), Code::kUnavailable);
  EXPECT_EQ(cache_.ApplyFollowing(kUser, {.version = 2}).code(), Code::kUnavailable);
  EXPECT_EQ(cache_.Drop(kUser).code(), Code::kUnavailable);
}

}  // namespace
}  // namespace hearth::feed
