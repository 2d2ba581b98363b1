#include "apps/feed/testing/feed_cache_contract.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace hearth::feed {
namespace {

using testing::ElementsAre;

constexpr UserId kUser{404};
constexpr UserId kOther{405};

// `count` posts with ids from `first` on, one second apart; newest first.
std::vector<PostKey> Posts(int64_t first, int64_t count) {
  std::vector<PostKey> posts;
  for (int64_t id = first + count - 1; id >= first; --id) posts.push_back(Key(1'000'000 + id, id));
  return posts;
}

PostKey Post(int64_t id) { return Key(1'000'000 + id, id); }

}  // namespace

void Warm(FeedCache& cache, const std::string& epoch, UserId user, int64_t following_version,
          const std::vector<PostKey>& posts) {
  const Result<std::string> ticket = cache.BeginWarming(epoch, user);
  ASSERT_TRUE(ticket.ok()) << ticket.status().ToString();
  const Status finished = cache.FinishWarming(user, *ticket, following_version, posts);
  ASSERT_TRUE(finished.ok()) << finished.ToString();
}

std::string EpochOf(FeedCache& cache, PostKey newest) {
  EXPECT_TRUE(cache.StartEpoch(newest).ok());
  const Result<std::optional<FeedCache::Mark>> mark = cache.ReadMark();
  EXPECT_TRUE(mark.ok() && mark->has_value());
  return (*mark)->epoch;
}

std::vector<PostKey> ReadAll(FeedCache& cache, const std::string& epoch, UserId user, size_t page) {
  std::vector<PostKey> posts;
  std::optional<PostKey> before;
  while (true) {
    const Result<std::optional<FeedCache::Slice>> slice = cache.Read(epoch, user, before, page);
    EXPECT_TRUE(slice.ok()) << slice.status().ToString();
    if (!slice.ok() || !slice->has_value()) {
      ADD_FAILURE() << "no cache";
      return posts;
    }
    const FeedCache::Slice& found = **slice;
    EXPECT_LE(found.posts.size(), page);
    posts.insert(posts.end(), found.posts.begin(), found.posts.end());
    if (found.has_ended) return posts;
    EXPECT_EQ(found.posts.size(), page);
    if (found.posts.size() != page) return posts;
    before = posts.back();
  }
}

bool HasCache(FeedCache& cache, const std::string& epoch, UserId user) {
  const Result<std::optional<FeedCache::Slice>> slice = cache.Read(epoch, user, std::nullopt, 1);
  EXPECT_TRUE(slice.ok()) << slice.status().ToString();
  return slice.ok() && slice->has_value();
}

FeedCache::Slice FeedCacheContract::Read(const std::optional<PostKey>& before, size_t limit) {
  Result<std::optional<FeedCache::Slice>> slice = cache_.Read(epoch_, kUser, before, limit);
  EXPECT_TRUE(slice.ok() && slice->has_value());
  return slice.ok() ? slice->value_or(FeedCache::Slice{}) : FeedCache::Slice{};
}

namespace {

TEST_P(FeedCacheContract, ThereIsNoCacheUntilItIsMade) {
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
  EXPECT_EQ(*cache_.Oldest(kUser), std::nullopt);
  ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Post(1)).ok());
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
  Warm(cache_, epoch_, kUser, 7, Posts(1, 3));
  const FeedCache::Slice slice = Read(std::nullopt, 10);
  EXPECT_EQ(slice.following_version, 7);
  EXPECT_THAT(slice.posts, ElementsAre(Post(3), Post(2), Post(1)));
  EXPECT_TRUE(slice.has_ended);
}

TEST_P(FeedCacheContract, PagesAreGaplessAndEndExactly) {
  Warm(cache_, epoch_, kUser, 1, Posts(1, 25));
  EXPECT_EQ(ReadAll(cache_, epoch_, kUser), Posts(1, 25));
  const FeedCache::Slice full = Read(Post(11), 10);
  EXPECT_EQ(full.posts, Posts(1, 10));
  EXPECT_TRUE(full.has_ended);  // Ten were requested, and there are exactly ten.
  EXPECT_FALSE(Read(Post(12), 10).has_ended);
  const FeedCache::Slice beyond = Read(Post(1), 10);
  EXPECT_TRUE(beyond.posts.empty() && beyond.has_ended);
}

TEST_P(FeedCacheContract, PostsOfOneSecondAreOrderedByNumberAndNoneIsSkipped) {
  std::vector<PostKey> posts;
  for (int64_t id = 125; id >= 80; --id) posts.push_back(Key(id < 90 ? 5'000 : 5'001, id));
  Warm(cache_, epoch_, kUser, 1, posts);
  for (const size_t page : {1u, 3u, 10u, 45u, 100u}) {
    EXPECT_EQ(ReadAll(cache_, epoch_, kUser, page), posts) << page;
  }
  EXPECT_EQ(*cache_.Oldest(kUser), (Key(5'000, 80)));
}

TEST_P(FeedCacheContract, ACursorWhosePostIsGoneStillSaysWhere) {
  Warm(cache_, epoch_, kUser, 1, Posts(1, 20));
  ASSERT_TRUE(cache_.Remove({kUser}, PostId{10}).ok());
  EXPECT_EQ(Read(Post(10), 3).posts, Posts(7, 3));
  EXPECT_EQ(Read(Key(INT64_MAX, INT64_MAX), 1).posts, Posts(20, 1));
  EXPECT_TRUE(Read(Key(0, 0), 1).posts.empty());
}

TEST_P(FeedCacheContract, PushAddsInOrderAndTwiceIsOnce) {
  Warm(cache_, epoch_, kUser, 1, {Post(9), Post(5)});
  for (const int64_t id : {7, 12, 7, 12}) {
    ASSERT_TRUE(cache_.Push(epoch_, {kUser, kOther}, Post(id)).ok());
  }
  EXPECT_THAT(ReadAll(cache_, epoch_, kUser), ElementsAre(Post(12), Post(9), Post(7), Post(5)));
  EXPECT_FALSE(HasCache(cache_, epoch_, kOther));
}

TEST_P(FeedCacheContract, APostOlderThanTheOldestWouldFollowAGap) {
  Warm(cache_, epoch_, kUser, 1, {Key(100, 20)});
  ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Key(99, 50)).ok());
  ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Key(100, 9)).ok());  // As text, "9" comes after "20".
  EXPECT_THAT(ReadAll(cache_, epoch_, kUser), ElementsAre(Key(100, 20)));
  ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Key(100, 100)).ok());
  EXPECT_THAT(ReadAll(cache_, epoch_, kUser), ElementsAre(Key(100, 100), Key(100, 20)));
}

TEST_P(FeedCacheContract, PushesToManyUsers) {
  const auto has_cache = [](UserId user) { return ToNumber(user) % 10 == 0; };
  std::vector<UserId> users;
  for (UserId user{1}; user <= UserId{300}; user = Next(user)) {
    users.push_back(user);
    if (has_cache(user)) Warm(cache_, epoch_, user, 1, Posts(1, 1));
  }
  ASSERT_TRUE(cache_.Push(epoch_, users, Post(2)).ok());
  for (const UserId user : users) {
    ASSERT_EQ(HasCache(cache_, epoch_, user), has_cache(user)) << user;
    if (!has_cache(user)) continue;
    EXPECT_EQ(ReadAll(cache_, epoch_, user), Posts(1, 2));
  }
}

TEST_P(FeedCacheContract, TheCapDropsTheOldest) {
  Warm(cache_, epoch_, kUser, 1, Posts(1, 500));
  EXPECT_EQ(ReadAll(cache_, epoch_, kUser, 100).size(), FeedCache::kPostsMax);
  ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Post(501)).ok());
  EXPECT_EQ(ReadAll(cache_, epoch_, kUser, 100), Posts(2, 500));
}

TEST_P(FeedCacheContract, TheCapDropsTheLowestNumberOfATiedSecond) {
  std::vector<PostKey> posts = Posts(1'000, 498);
  posts.push_back(Key(50, 10));
  posts.push_back(Key(50, 9));  // As text, "10" comes before "9".
  Warm(cache_, epoch_, kUser, 1, posts);
  ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Post(2'000)).ok());
  EXPECT_EQ(*cache_.Oldest(kUser), (Key(50, 10)));
}

TEST_P(FeedCacheContract, RemoveTakesAwayAndTheLastOneEndsTheCache) {
  Warm(cache_, epoch_, kUser, 1, Posts(1, 2));
  ASSERT_TRUE(cache_.Remove({kUser, kOther}, PostId{1}).ok());
  ASSERT_TRUE(cache_.Remove({kUser}, PostId{1}).ok());
  EXPECT_EQ(*cache_.Oldest(kUser), Post(2));
  ASSERT_TRUE(cache_.Remove({kUser}, PostId{2}).ok());
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
}

TEST_P(FeedCacheContract, ReadingRenewsTheLifetimeAndPushingDoesNot) {
  Warm(cache_, epoch_, kUser, 1, Posts(1, 2));
  Warm(cache_, epoch_, kOther, 1, Posts(1, 2));
  fixture_->PassTime(std::chrono::days(4));
  EXPECT_TRUE(HasCache(cache_, epoch_, kUser));
  ASSERT_TRUE(cache_.Push(epoch_, {kUser, kOther}, Post(3)).ok());
  ASSERT_TRUE(cache_.Remove({kUser, kOther}, PostId{1}).ok());
  EXPECT_TRUE(cache_.Oldest(kOther)->has_value());
  fixture_->PassTime(std::chrono::days(4));
  EXPECT_TRUE(HasCache(cache_, epoch_, kUser));
  EXPECT_FALSE(HasCache(cache_, epoch_, kOther));
  fixture_->PassTime(FeedCache::kLifetime + std::chrono::seconds(1));
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
}

TEST_P(FeedCacheContract, WhatIsPushedWhileACacheIsMadeIsKept) {
  const std::string ticket = *cache_.BeginWarming(epoch_, kUser);
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
  ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Post(9)).ok());
  ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Post(1)).ok());
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
  EXPECT_EQ(*cache_.Oldest(kUser), std::nullopt);
  ASSERT_TRUE(cache_.FinishWarming(kUser, ticket, 3, {Post(8), Post(4)}).ok());
  // Between 1 and 4 there may be posts that are not cached.
  EXPECT_THAT(ReadAll(cache_, epoch_, kUser), ElementsAre(Post(9), Post(8), Post(4)));
}

TEST_P(FeedCacheContract, WhatWasPushedInTheOldestSecondIsComparedByNumber) {
  const std::string ticket = *cache_.BeginWarming(epoch_, kUser);
  for (const int64_t id : {9, 100}) ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Key(50, id)).ok());
  ASSERT_TRUE(cache_.FinishWarming(kUser, ticket, 3, {Key(50, 20)}).ok());
  EXPECT_THAT(ReadAll(cache_, epoch_, kUser), ElementsAre(Key(50, 100), Key(50, 20)));
}

TEST_P(FeedCacheContract, WhoBeginsLastWins) {
  Warm(cache_, epoch_, kUser, 1, Posts(1, 2));
  const std::string first = *cache_.BeginWarming(epoch_, kUser);
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));  // Replaced.
  const std::string second = *cache_.BeginWarming(epoch_, kUser);
  EXPECT_EQ(cache_.FinishWarming(kUser, first, 1, Posts(1, 1)).code(), Code::kAborted);
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
  ASSERT_TRUE(cache_.FinishWarming(kUser, second, 2, Posts(1, 2)).ok());
  EXPECT_EQ(cache_.FinishWarming(kUser, first, 1, Posts(1, 1)).code(), Code::kAborted);
  EXPECT_TRUE(cache_.FinishWarming(kUser, second, 2, Posts(1, 2)).ok());  // The answer was lost.
  EXPECT_EQ(ReadAll(cache_, epoch_, kUser), Posts(1, 2));
}

TEST_P(FeedCacheContract, NoPostsNoCache) {
  const std::string ticket = *cache_.BeginWarming(epoch_, kUser);
  ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Post(1)).ok());
  ASSERT_TRUE(cache_.FinishWarming(kUser, ticket, 1, {}).ok());
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
}

TEST_P(FeedCacheContract, ACacheThatNobodyFinishesIsForgotten) {
  const std::string ticket = *cache_.BeginWarming(epoch_, kUser);
  ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Post(1)).ok());
  fixture_->PassTime(FeedCache::kWarmingMax + std::chrono::seconds(1));
  EXPECT_EQ(cache_.FinishWarming(kUser, ticket, 1, Posts(1, 1)).code(), Code::kAborted);
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
}

TEST_P(FeedCacheContract, ACacheOfAnotherEpochCountsAsNone) {
  Warm(cache_, epoch_, kUser, 1, Posts(1, 2));
  EXPECT_FALSE(HasCache(cache_, "another", kUser));
  ASSERT_TRUE(cache_.Push("another", {kUser}, Post(3)).ok());
  EXPECT_EQ(ReadAll(cache_, epoch_, kUser), Posts(1, 2));
}

TEST_P(FeedCacheContract, FollowingAddsAndUnfollowingRemoves) {
  Warm(cache_, epoch_, kUser, 4, {Post(9), Post(5)});
  ASSERT_TRUE(cache_
                  .ApplyFollowing(
                      kUser, {.version = 5, .added = {Post(7), Post(5), Post(3)}, .since = Post(5)})
                  .ok());
  EXPECT_THAT(ReadAll(cache_, epoch_, kUser), ElementsAre(Post(9), Post(7), Post(5)));
  ASSERT_TRUE(
      cache_.ApplyFollowing(kUser, {.version = 6, .removed = {PostId{9}, PostId{1}, PostId{5}}})
          .ok());
  const FeedCache::Slice slice = Read(std::nullopt, 10);
  EXPECT_THAT(slice.posts, ElementsAre(Post(7)));
  EXPECT_EQ(slice.following_version, 6);
}

TEST_P(FeedCacheContract, AChangeAppliesOnceAndOnlyToTheVersionBefore) {
  Warm(cache_, epoch_, kUser, 4, Posts(1, 3));
  const FeedCache::FollowingChange change{.version = 5, .removed = {PostId{2}}};
  ASSERT_TRUE(cache_.ApplyFollowing(kUser, change).ok());
  ASSERT_TRUE(cache_.Push(epoch_, {kUser}, Post(4)).ok());
  ASSERT_TRUE(cache_.ApplyFollowing(kUser, change).ok());
  ASSERT_TRUE(cache_.ApplyFollowing(kUser, {.version = 3, .removed = {PostId{4}}}).ok());
  EXPECT_THAT(ReadAll(cache_, epoch_, kUser), ElementsAre(Post(4), Post(3), Post(1)));
  ASSERT_TRUE(cache_.ApplyFollowing(kUser, {.version = 7, .removed = {PostId{4}}}).ok());
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
}

TEST_P(FeedCacheContract, AChangeThatDoesNotReachBackFarEnoughEndsTheCache) {
  Warm(cache_, epoch_, kUser, 4, Posts(1, 3));
  ASSERT_TRUE(
      cache_.ApplyFollowing(kUser, {.version = 5, .added = {Post(9)}, .since = Post(2)}).ok());
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
}

TEST_P(FeedCacheContract, FollowingKeepsTheCap) {
  Warm(cache_, epoch_, kUser, 1, Posts(1, 400));
  ASSERT_TRUE(cache_.ApplyFollowing(kUser, {.version = 2, .added = Posts(401, 500)}).ok());
  EXPECT_EQ(ReadAll(cache_, epoch_, kUser, 100), Posts(401, 500));
}

TEST_P(FeedCacheContract, UnfollowingTheOnlyAccountEndsTheCache) {
  Warm(cache_, epoch_, kUser, 1, Posts(1, 2));
  ASSERT_TRUE(cache_.ApplyFollowing(kUser, {.version = 2, .removed = {PostId{1}, PostId{2}}}).ok());
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
}

TEST_P(FeedCacheContract, ADroppedCacheIsGone) {
  Warm(cache_, epoch_, kUser, 1, Posts(1, 2));
  ASSERT_TRUE(cache_.Drop(kUser).ok());
  ASSERT_TRUE(cache_.Drop(kUser).ok());
  EXPECT_FALSE(HasCache(cache_, epoch_, kUser));
  const std::string ticket = *cache_.BeginWarming(epoch_, kUser);
  ASSERT_TRUE(cache_.Drop(kUser).ok());
  EXPECT_EQ(cache_.FinishWarming(kUser, ticket, 1, Posts(1, 1)).code(), Code::kAborted);
}

TEST_P(FeedCacheContract, AnEpochBeginsOnce) {
  EXPECT_EQ(EpochOf(cache_, Post(99)), epoch_);
  EXPECT_EQ((*cache_.ReadMark())->newest, PostKey{});
}

TEST_P(FeedCacheContract, TheMarkMovesWhenTheGapCloses) {
  const auto newest = [&] { return (*cache_.ReadMark())->newest; };
  ASSERT_TRUE(cache_.MarkPushed(epoch_, Post(1)).ok());
  EXPECT_EQ(newest(), Post(1));
  for (const int64_t id : {4, 3, 6, 3}) ASSERT_TRUE(cache_.MarkPushed(epoch_, Post(id)).ok());
  EXPECT_EQ(newest(), Post(1));
  ASSERT_TRUE(cache_.MarkPushed(epoch_, Post(2)).ok());
  EXPECT_EQ(newest(), Post(4));
  ASSERT_TRUE(cache_.MarkPushed(epoch_, Post(2)).ok());
  EXPECT_EQ(newest(), Post(4));
  ASSERT_TRUE(cache_.MarkPushed(epoch_, Post(5)).ok());
  EXPECT_EQ(newest(), Post(6));
}

TEST_P(FeedCacheContract, AMarkOfAnotherEpochIsAborted) {
  EXPECT_EQ(cache_.MarkPushed("another", Post(1)).code(), Code::kAborted);
  EXPECT_EQ((*cache_.ReadMark())->newest, PostKey{});
}

}  // namespace
}  // namespace hearth::feed
