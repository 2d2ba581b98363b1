#include "apps/feed/cache/feed_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "apps/feed/cache/memory_feed_cache.h"
#include "apps/feed/testing/feed_cache_contract.h"
#include "base/testing/fake_clock.h"
#include "base/testing/test_seed.h"

namespace hearth::feed {
namespace {

INSTANTIATE_TEST_SUITE_P(Memory, FeedCacheContract, testing::Values(&MakeMemoryFixture));
INSTANTIATE_TEST_SUITE_P(Redis, FeedCacheContract, testing::Values(&MakeRedisFixture));
INSTANTIATE_TEST_SUITE_P(RedisCluster, FeedCacheContract, testing::Values(&MakeClusterFixture));

TEST(MemoryFeedCacheTest, DropsTheCachesThatWereReadLeastRecently) {
  FakeClock clock(0);
  RandomSource random(1);
  MemoryFeedCache cache(clock, random, 9);  // Three caches of two posts, plus one each.
  const std::string epoch = EpochOf(cache);
  for (const UserId user : {UserId{1}, UserId{2}, UserId{3}})
    Warm(cache, epoch, user, 1, {Key(20, 2), Key(10, 1)});
  EXPECT_TRUE(HasCache(cache, epoch, UserId{1}));
  Warm(cache, epoch, UserId{4}, 1, {Key(20, 2)});
  EXPECT_FALSE(HasCache(cache, epoch, UserId{2}));
  for (const UserId user : {UserId{1}, UserId{3}, UserId{4}})
    EXPECT_TRUE(HasCache(cache, epoch, user)) << user;
}

TEST(MemoryFeedCacheTest, RemembersABoundedNumberOfPostsAhead) {
  FakeClock clock(0);
  RandomSource random(1);
  MemoryFeedCache cache(clock, random);
  const std::string epoch = EpochOf(cache);
  const auto most = static_cast<int64_t>(MemoryFeedCache::kAheadMax);
  for (int64_t id = 2; id < 2 + most; ++id) ASSERT_TRUE(cache.MarkPushed(epoch, Key(id, id)).ok());
  EXPECT_EQ(cache.MarkPushed(epoch, Key(most + 2, most + 2)).code(), Code::kUnavailable);
  ASSERT_TRUE(cache.MarkPushed(epoch, Key(1, 1)).ok());
  EXPECT_EQ((*cache.ReadMark())->newest.id, PostId{most + 1});
}

// The results of a run's operations, one line each.
class RandomRun {
 public:
  RandomRun(FeedCacheFixture& fixture, uint64_t seed)
      : fixture_(fixture), cache_(fixture.cache()), dice_(seed), epoch_(EpochOf(cache_)) {}

  std::string Step() {
    const UserId user{static_cast<int64_t>(1 + dice_.Below(3))};
    switch (dice_.Below(9)) {
      case 0:
        tickets_[user] = *cache_.BeginWarming(epoch_, user);
        return "begin";
      case 1:
        return "finish " + cache_
                               .FinishWarming(user, tickets_[user], Version(),
                                              RandomPosts(dice_.OneIn(4) ? 500 : 20))
                               .ToString()
                               .substr(0, 7);
      case 2:
      case 3:
        return "push " +
               cache_.Push(epoch_, {UserId{1}, UserId{2}, UserId{3}}, RandomPost()).ToString();
      case 4:
        return "remove " + cache_.Remove({user, UserId{1}}, RandomPost().id).ToString();
      case 5:
        return Follow(user);
      case 6:
        fixture_.PassTime(std::chrono::seconds(dice_.OneIn(20) ? 400'000 : 5));
        return "time";
      case 7: {
        const auto oldest = *cache_.Oldest(user);
        return "oldest " + (oldest ? FormatCursor(*oldest) : "none");
      }
      default:
        return Read(user);
    }
  }

 private:
  // Ten posts share a second, so that ties are common.
  PostKey RandomPost() {
    const auto id = static_cast<int64_t>(1 + dice_.Below(1'500));
    return Key(1'000 + id / 10, id);
  }
  std::vector<PostKey> RandomPosts(size_t count) {
    std::vector<PostKey> posts;
    const size_t size = dice_.Below(count + 1);
    for (size_t i = 0; i < size; ++i) posts.push_back(RandomPost());
    std::sort(posts.begin(), posts.end(), std::greater<>());
    posts.erase(std::unique(posts.begin(), posts.end()), posts.end());
    return posts;
  }
  int64_t Version() { return static_cast<int64_t>(1 + dice_.Below(4)); }

  std::string Follow(UserId user) {
    FeedCache::FollowingChange change{.version = Version(), .added = RandomPosts(30)};
    for (const PostKey& post : RandomPosts(10)) change.removed.push_back(post.id);
    if (dice_.OneIn(4)) change.since = RandomPost();
    return "follow " + cache_.ApplyFollowing(user, change).ToString();
  }

  std::string Read(UserId user) {
    std::optional<PostKey> before;
    if (!dice_.OneIn(3)) before = RandomPost();
    const auto slice = *cache_.Read(epoch_, user, before, 1 + dice_.Below(30));
    if (!slice) return "read none";
    std::string line = "read " + std::to_string(slice->following_version);
    for (const PostKey& post : slice->posts) line += " " + FormatCursor(post);
    return line + (slice->has_ended ? " end" : "");
  }

  FeedCacheFixture& fixture_;
  FeedCache& cache_;
  Dice dice_;
  const std::string epoch_;
  std::map<UserId, std::string> tickets_;
};

TEST(FeedCacheRandomTest, MemoryAndRedisAnswerTheSame) {
  const uint64_t seed = TestSeed();
  const std::unique_ptr<FeedCacheFixture> memory = MakeMemoryFixture();
  const std::unique_ptr<FeedCacheFixture> redis = MakeRedisFixture();
  RandomRun in_memory(*memory, seed);
  RandomRun in_redis(*redis, seed);
  constexpr int kSteps = 4'000;
  for (int step = 0; step < kSteps; ++step) {
    const std::string expected = in_memory.Step();
    ASSERT_EQ(in_redis.Step(), expected) << "step " << step;
  }
}

}  // namespace
}  // namespace hearth::feed
