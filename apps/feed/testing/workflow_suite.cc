// The eleven workflows of the specification, each by its number.
#include <chrono>

#include "apps/feed/cache/feed_cache.h"
#include "apps/feed/testing/workflow_test.h"

namespace hearth::feed {
namespace {

using Ids = std::vector<PostId>;

Ids Part(const Ids& ids, size_t from, size_t count) {
  const auto begin = ids.begin() + static_cast<ptrdiff_t>(from);
  return Ids(begin, begin + static_cast<ptrdiff_t>(count));
}

// Interleaved, starting with the newest.
Ids Join(const Ids& newer, const Ids& older) {
  Ids ids = newer;
  ids.insert(ids.end(), older.begin(), older.end());
  return ids;
}

TEST_P(WorkflowTest, Workflow1NormalScrollGoesOnBelowTheCursorFromTheCache) {
  const Account reader = NewUser("reader");
  const Account author = NewUser("author");
  Follow(reader, author);
  const Ids posts = NewPosts(author, 35);  // All within one second.
  Feed(reader);
  Settle();
  const Page first = Feed(reader);
  EXPECT_EQ(first.ids, Part(posts, 0, 10));
  EXPECT_TRUE(first.has_more);
  EXPECT_EQ(first.next_cursor, ToText(posts[9]) + ":1764410400");
  const uint64_t hits = PagesBy("hit");
  const Page second = Feed(reader, first.next_cursor);
  EXPECT_EQ(second.ids, Part(posts, 10, 10));
  EXPECT_EQ(PagesBy("hit"), hits + 1);
  if (redis_) {
    EXPECT_EQ(RedisNumber({"ZCARD", FeedKey(reader)}), 35);
  }
}

TEST_P(WorkflowTest, Workflow2PullToRefreshShowsTheNewestFirst) {
  const Account reader = NewUser("reader");
  const Account author = NewUser("author");
  Follow(reader, author);
  const Ids old_posts = NewPosts(author, 12);
  EXPECT_EQ(Feed(reader).ids, Part(old_posts, 0, 10));
  clock_.Advance(std::chrono::seconds(5));
  const Ids new_posts = NewPosts(author, 3);
  EXPECT_EQ(Feed(reader).ids, Join(new_posts, Part(old_posts, 0, 7))) << "before they are pushed";
  Settle();
  EXPECT_EQ(Feed(reader).ids, Join(new_posts, Part(old_posts, 0, 7))) << "afterwards";
  if (redis_) {
    EXPECT_EQ(RedisNumber({"ZSCORE", FeedKey(reader), ToText(new_posts[0])}), 1'764'410'405);
  }
}

TEST_P(WorkflowTest, ReadingRenewsTheLifetimeOfACacheAndPushingDoesNot) {
  if (!redis_) GTEST_SKIP() << "memory_feed_cache.cc: feed_cache_contract.cc tests its lifetimes";
  const Account reader = NewUser("reader");
  const Account author = NewUser("author");
  Follow(reader, author);
  NewPosts(author, 3);
  Feed(reader);
  Settle();
  const int64_t lifetime = FeedCache::kLifetime.count();
  redis_->Command({"EXPIRE", FeedKey(reader), "1000"});
  NewPosts(author, 1);
  Settle();
  EXPECT_LE(RedisNumber({"TTL", FeedKey(reader)}), 1'000);
  Feed(reader);
  EXPECT_GT(RedisNumber({"TTL", FeedKey(reader)}), lifetime - 100);
}

TEST_P(WorkflowTest, Workflow3BelowTheCacheTheDatabaseGoesOnToTheEnd) {
  const Account reader = NewUser("reader");
  const Account author = NewUser("author");
  Follow(reader, author);
  const Ids posts = NewPosts(author, 512);  // Twelve more than a cache holds.
  Feed(reader);
  Settle();
  EXPECT_EQ(Scroll(reader), posts);
  EXPECT_GT(PagesBy("exhausted"), 0u);
  if (redis_) {
    EXPECT_EQ(RedisNumber({"ZCARD", FeedKey(reader)}), 500);
  }
  // Then the end is reported.
  const Page end = Feed(reader, ToText(posts[509]) + ":1764410400");
  EXPECT_EQ(end.ids, Part(posts, 510, 2));
  EXPECT_FALSE(end.has_more);
  EXPECT_EQ(end.next_cursor, "");
}

TEST_P(WorkflowTest, Workflow4ACursorWhosePostIsGoneStillSaysWhereToGoOn) {
  const Account reader = NewUser("reader");
  const Account author = NewUser("author");
  Follow(reader, author);
  const Ids posts = NewPosts(author, 30);
  Feed(reader);
  Settle();
  const Page first = Feed(reader);
  EXPECT_EQ(Send(author, "DELETE", "/posts/" + ToText(posts[9])).status, 204);
  EXPECT_EQ(Feed(reader, first.next_cursor).ids, Part(posts, 10, 10)) << "before the caches hear";
  Settle();
  const Page second = Feed(reader, first.next_cursor);
  EXPECT_EQ(second.ids, Part(posts, 10, 10));
  EXPECT_EQ(Feed(reader, second.next_cursor).ids, Part(posts, 20, 10)) << "the cache goes on";
}

TEST_P(WorkflowTest, Workflow5FollowingSomebodyBringsAllTheirPostsInOrder) {
  const Account reader = NewUser("reader");
  const Account first = NewUser("first");
  const Account second = NewUser("second");
  Follow(reader, first);
  const Ids early = NewPosts(second, 8);
  clock_.Advance(std::chrono::seconds(10));
  const Ids middle = NewPosts(first, 4);
  clock_.Advance(std::chrono::seconds(10));
  const Ids late = NewPosts(second, 7);
  EXPECT_EQ(Scroll(reader), middle);
  Settle();
  Follow(reader, second);
  const Ids all = Join(late, Join(middle, early));
  EXPECT_EQ(Scroll(reader), all) << "at once";
  Settle();
  EXPECT_EQ(Scroll(reader), all) << "when the caches have heard of it";
  clock_.Advance(std::chrono::seconds(10));
  const Ids newest = NewPosts(second, 1);
  Settle();
  EXPECT_EQ(Scroll(reader), Join(newest, all)) << "what comes later is pushed";
}

TEST_P(WorkflowTest, Workflow6UnfollowingRemovesAllPostsOfThatAuthor) {
  const Account reader = NewUser("reader");
  const Account kept = NewUser("kept");
  const Account left = NewUser("left");
  Follow(reader, kept);
  Follow(reader, left);
  const Ids old_posts = NewPosts(left, 3);
  clock_.Advance(std::chrono::days(30));  // More than the last seven days are found.
  const Ids wanted = NewPosts(kept, 3);
  const Ids new_posts = NewPosts(left, 3);
  EXPECT_EQ(Scroll(reader), Join(new_posts, Join(wanted, old_posts)));
  Settle();
  EXPECT_EQ(Send(reader, "DELETE", "/users/" + ToText(left.id) + "/follow").status, 204);
  EXPECT_EQ(Scroll(reader), wanted);
  Settle();
  EXPECT_EQ(Scroll(reader), wanted);
  if (redis_) {
    EXPECT_EQ(RedisNumber({"ZCARD", FeedKey(reader)}), 3);
  }
}

TEST_P(WorkflowTest, Workflow7ADeletedPostDisappearsFromAllFeeds) {
  const Account author = NewUser("author");
  const Account one = NewUser("one");
  const Account two = NewUser("two");
  Follow(one, author);
  Follow(two, author);
  Ids posts = NewPosts(author, 14);
  Feed(one);
  Feed(two);
  Settle();
  for (const size_t place : {size_t{12}, size_t{3}, size_t{0}}) {
    EXPECT_EQ(Send(author, "DELETE", "/posts/" + ToText(posts[place])).status, 204);
    posts.erase(posts.begin() + static_cast<ptrdiff_t>(place));
  }
  EXPECT_EQ(Scroll(one), posts) << "before the caches hear; the page is topped up";
  EXPECT_EQ(Feed(one).ids, Part(posts, 0, 10));
  Settle();
  EXPECT_EQ(Scroll(one), posts);
  EXPECT_EQ(Scroll(two), posts);
  if (redis_) {
    EXPECT_EQ(RedisNumber({"ZCARD", FeedKey(two)}), 11);
  }
}

TEST_P(WorkflowTest, Workflow8AnEditedPostIsShownAsItIsNow) {
  const Account reader = NewUser("reader");
  const Account author = NewUser("author");
  Follow(reader, author);
  const Ids posts = NewPosts(author, 1);
  Feed(reader);
  Settle();
  EXPECT_EQ(Send(author, "PATCH", "/posts/" + ToText(posts[0]), {{"caption", "anew"}}).status, 200);
  const nlohmann::json page = nlohmann::json::parse(Send(reader, "GET", "/feed").body);
  EXPECT_EQ(page.at("posts").at(0).at("caption"), "anew");
}

TEST_P(WorkflowTest, Workflow9WithoutRedisTheFeedIsOnlySlowerAndHealsByItself) {
  if (!redis_) GTEST_SKIP() << "there is no Redis to lose";
  const Account reader = NewUser("reader");
  const Account author = NewUser("author");
  Follow(reader, author);
  const Ids old_posts = NewPosts(author, 15);
  Feed(reader);
  Settle();
  redis_->Kill();
  const Ids new_posts = NewPosts(author, 3);  // None of these fails.
  EXPECT_EQ(Scroll(reader), Join(new_posts, old_posts));
  EXPECT_GT(PagesBy("degraded"), 0u);
  EXPECT_EQ(metrics_.GetGauge("feed_cache_degraded", "").value(), 1) << "somebody should look";
  redis_->Restart();
  clock_.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Scroll(reader), Join(new_posts, old_posts));
  const Ids newest = NewPosts(author, 1);
  Settle();
  const uint64_t degraded = PagesBy("degraded");
  EXPECT_EQ(Scroll(reader), Join(newest, Join(new_posts, old_posts)));
  EXPECT_EQ(PagesBy("degraded"), degraded) << "it has healed";
  EXPECT_EQ(RedisNumber({"ZCARD", FeedKey(reader)}), 19);
}

TEST_P(WorkflowTest, Workflow10WhoFollowsNobodySeesAnEmptyFeed) {
  const Account reader = NewUser("reader");
  const Account author = NewUser("author");
  NewPosts(author, 2);
  const Page page = Feed(reader);
  EXPECT_EQ(page.ids, Ids());
  EXPECT_EQ(page.next_cursor, "");
  EXPECT_FALSE(page.has_more);
  EXPECT_EQ(Feed(author).ids, Ids()) << "one's own posts are not in the home feed";
  if (redis_) {
    EXPECT_EQ(RedisNumber({"EXISTS", FeedKey(reader)}), 0);
  }
}

TEST_P(WorkflowTest, Workflow11AColdStartShowsTheNewestAndWarmsTheCache) {
  const Account reader = NewUser("reader");
  const Account first = NewUser("first");
  const Account second = NewUser("second");
  Follow(reader, first);
  Follow(reader, second);
  const Ids older = NewPosts(first, 9);
  clock_.Advance(std::chrono::seconds(1));
  const Ids newer = NewPosts(second, 9);
  Settle();
  if (redis_) {
    EXPECT_EQ(RedisNumber({"EXISTS", FeedKey(reader)}), 0) << "pushing makes no cache";
  }
  const Page page = Feed(reader);
  EXPECT_EQ(page.ids, Join(newer, Part(older, 0, 1)));
  EXPECT_TRUE(page.has_more);
  EXPECT_EQ(PagesBy("cold"), 1u);
  EXPECT_EQ(Feed(reader, page.next_cursor).ids, Part(older, 1, 8));
  EXPECT_EQ(PagesBy("cold"), 1u);
  if (redis_) {
    EXPECT_EQ(RedisNumber({"ZCARD", FeedKey(reader)}), 18);
  }
  // After seven days without a read, the cache is made again.
  clock_.Advance(FeedCache::kLifetime + std::chrono::seconds(1));
  if (redis_) redis_->Command({"DEL", FeedKey(reader)});
  EXPECT_EQ(Feed(reader).ids, page.ids);
  EXPECT_EQ(PagesBy("cold"), 2u);
}

TEST_P(WorkflowTest, NothingIsLostWhenTheProcessEndsBetweenTwoPages) {
  const Account reader = NewUser("reader");
  const Account author = NewUser("author");
  Follow(reader, author);
  const Ids posts = NewPosts(author, 25);
  const Page first = Feed(reader);
  Restart();
  const Ids later = NewPosts(author, 2);
  const Page second = Feed(reader, first.next_cursor);
  Restart();
  EXPECT_EQ(Join(first.ids, second.ids), Part(posts, 0, 20));
  EXPECT_EQ(Scroll(reader), Join(later, posts));
}

}  // namespace
}  // namespace hearth::feed
