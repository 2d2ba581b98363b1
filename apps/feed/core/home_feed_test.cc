#include "apps/feed/core/home_feed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>
#include <random>
#include <set>
#include <thread>

#include "apps/feed/cache/memory_feed_cache.h"
#include "apps/feed/core/feed_core.h"
#include "apps/feed/queue/document_feed_queue.h"
#include "base/status_macros.h"
#include "base/testing/fake_clock.h"
#include "client/embedded/testing/embedded_database.h"
#include "client/testing/counting_transport.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::feed {
namespace {

constexpr int64_t kNow = 1'794'744'000;

// Lets a test block the warm-up of one user's cache and choose its outcome.
class WarmingGate {
 public:
  void Close(UserId user) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    user_ = user;
  }
  // Waiting callers get `status`; later ones pass.
  void Open(const Status& status) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    user_.reset();
    status_ = status;
    changed_.NotifyAll();
  }
  Status Pass(UserId user) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    if (user_ != user) return Status();
    is_reached_ = true;
    changed_.NotifyAll();
    while (user_ == user) changed_.Wait(mutex_);
    return status_;
  }
  void WaitUntilReached() EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    while (!is_reached_) changed_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::optional<UserId> user_ GUARDED_BY(mutex_);
  Status status_ GUARDED_BY(mutex_);
  bool is_reached_ GUARDED_BY(mutex_) = false;
};

// A memory cache behind a gate.
class GatedFeedCache final : public FeedCache {
 public:
  GatedFeedCache(WarmingGate& gate, const Clock& clock, RandomSource& random)
      : gate_(gate), cache_(clock, random) {}

  std::string_view kind() const override { return cache_.kind(); }
  Result<std::string> BeginWarming(const std::string& epoch, UserId user) override {
    RETURN_IF_ERROR(gate_.Pass(user));
    return cache_.BeginWarming(epoch, user);
  }
  Result<std::optional<Mark>> ReadMark() override { return cache_.ReadMark(); }
  Status StartEpoch(PostKey newest) override { return cache_.StartEpoch(newest); }
  Status MarkPushed(const std::string& epoch, PostKey post) override {
    return cache_.MarkPushed(epoch, post);
  }
  Result<std::optional<Slice>> Read(const std::string& epoch, UserId user,
                                    const std::optional<PostKey>& before, size_t limit) override {
    return cache_.Read(epoch, user, before, limit);
  }
  Status FinishWarming(UserId user, const std::string& ticket, int64_t following_version,
                       const std::vector<PostKey>& posts) override {
    return cache_.FinishWarming(user, ticket, following_version, posts);
  }
  Status Push(const std::string& epoch, const std::vector<UserId>& users, PostKey post) override {
    return cache_.Push(epoch, users, post);
  }
  Status Remove(const std::vector<UserId>& users, PostId post_id) override {
    return cache_.Remove(users, post_id);
  }
  Result<std::optional<PostKey>> Oldest(UserId user) override { return cache_.Oldest(user); }
  Status ApplyFollowing(UserId user, const FollowingChange& change) override {
    return cache_.ApplyFollowing(user, change);
  }
  Status Drop(UserId user) override { return cache_.Drop(user); }

 private:
  WarmingGate& gate_;
  MemoryFeedCache cache_;
};

class HomeFeedTest : public testing::Test {
 protected:
  User MakeUser(const std::string& name) {
    Result<User> user = core_.users().Create({.username = name});
    EXPECT_TRUE(user.ok()) << user.status().ToString();
    return *user;
  }
  PostKey MakePost(const User& author) {
    const Result<Post> post = core_.CreatePost(author, "", {});
    EXPECT_TRUE(post.ok()) << post.status().ToString();
    return post->key;
  }
  std::vector<PostId> Read(UserId user, const std::optional<PostKey>& before = std::nullopt) {
    const Result<PostPage> page = core_.ReadHome(user, before);
    EXPECT_TRUE(page.ok()) << page.status().ToString();
    std::vector<PostId> ids;
    for (const Post& post : page->posts) ids.push_back(post.key.id);
    return ids;
  }
  void WorkOnAll() {
    while (*core_.fan_out().RunOnce(std::chrono::milliseconds(0)) > 0) {
    }
  }
  uint64_t PagesBy(const std::string& path) {
    return metrics_
        .GetCounter("feed_pages_total", "Pages of home feeds, by how they came about.",
                    {{"path", path}})
        .value();
  }

  const storage::TemporaryFolder folder_;
  FakeClock clock_{kNow * 1'000'000};
  RandomSource random_{7};
  Metrics metrics_;
  // Shared with the database's handle.
  const std::shared_ptr<client::CountingTransport> counts_ =
      std::make_shared<client::CountingTransport>(
          client::OpenTestDatabase(folder_.path()).transport());
  const Collections collections_{client::Firestore(counts_), "ci"};
  WarmingGate gate_;
  FeedCore core_{{.clock = clock_,
                  .random = random_,
                  .metrics = metrics_,
                  .collections = collections_,
                  .cache = std::make_unique<GatedFeedCache>(gate_, clock_, random_),
                  .queue = std::make_unique<DocumentFeedQueue>(clock_, collections_)},
                 FanOutOptions{.pushed_followers_max = 3}};
};

// A push in flight when its reader unfollowed.
TEST_F(HomeFeedTest, PostsOfOthersInTheCacheAreNotShown) {
  const User reader = MakeUser("reader");
  const User friendly = MakeUser("friendly");
  const User stranger = MakeUser("stranger");
  ASSERT_TRUE(core_.Follow(reader.id, friendly.id).ok());
  const PostKey wanted = MakePost(friendly);
  ASSERT_EQ(Read(reader.id), std::vector<PostId>{wanted.id});
  const PostKey unwanted = MakePost(stranger);
  WorkOnAll();
  const auto mark = core_.cache().ReadMark();
  ASSERT_TRUE(core_.cache().Push((*mark)->epoch, {reader.id}, unwanted).ok());
  EXPECT_EQ(Read(reader.id), std::vector<PostId>{wanted.id});
  EXPECT_GT(PagesBy("exhausted"), 0u) << "the cache was asked";
}

TEST_F(HomeFeedTest, AWarmPageReadsWhatItShowsAndTwoLists) {
  const User reader = MakeUser("reader");
  const User author = MakeUser("author");
  ASSERT_TRUE(core_.Follow(reader.id, author.id).ok());
  for (int i = 0; i < 40; ++i) MakePost(author);
  Read(reader.id);
  WorkOnAll();
  counts_->Reset();
  EXPECT_EQ(Read(reader.id).size(), HomeFeed::kPageSize);
  // Eleven posts, the following list, the list of pulled authors, and the query for unpushed posts,
  // which has no results.
  EXPECT_EQ(counts_->reads(), 14u);
  EXPECT_EQ(PagesBy("hit"), 1u);
}

TEST_F(HomeFeedTest, OfManyWhoComeAtOnceOneMakesTheCache) {
  const User reader = MakeUser("reader");
  const User author = MakeUser("author");
  ASSERT_TRUE(core_.Follow(reader.id, author.id).ok());
  for (int i = 0; i < 40; ++i) MakePost(author);
  WorkOnAll();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 1 + HomeFeed::kWarmingWaitersMax; ++i) {
    threads.emplace_back([&] { Read(reader.id); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(PagesBy("cold"), 1u);
  EXPECT_EQ(PagesBy("hit"), HomeFeed::kWarmingWaitersMax);
}

TEST_F(HomeFeedTest, AFeedWhoseCacheIsSlowToMakeHoldsUpNoOther) {
  const User author = MakeUser("author");
  const User slow = MakeUser("slow");
  ASSERT_TRUE(core_.Follow(slow.id, author.id).ok());
  const PostKey post = MakePost(author);
  gate_.Close(slow.id);
  std::future<std::vector<PostId>> slow_page =
      std::async(std::launch::async, [&] { return Read(slow.id); });
  gate_.WaitUntilReached();
  // With a table of 64 locks, one of these users would share the slow user's slot.
  std::vector<User> others;
  for (int i = 0; i < 64; ++i) {
    others.push_back(MakeUser("other" + std::to_string(i)));
    ASSERT_TRUE(core_.Follow(others.back().id, author.id).ok());
  }
  std::future<void> pages = std::async(std::launch::async, [&] {
    for (const User& other : others) EXPECT_EQ(Read(other.id), std::vector<PostId>{post.id});
  });
  EXPECT_EQ(pages.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  gate_.Open(Status());
  pages.wait();
  EXPECT_EQ(slow_page.get(), std::vector<PostId>{post.id});
}

// Whatever the outcome of the warm-up, and however many requests wait, every request gets the page.
class CrowdedHomeFeedTest : public HomeFeedTest, public testing::WithParamInterface<Status> {};

TEST_P(CrowdedHomeFeedTest, AFewWaitForTheCacheAndTheRestAskTheDatabase) {
  const User reader = MakeUser("reader");
  const User author = MakeUser("author");
  ASSERT_TRUE(core_.Follow(reader.id, author.id).ok());
  std::vector<PostId> expected;
  for (size_t i = 0; i < HomeFeed::kPageSize + 1; ++i) expected.push_back(MakePost(author).id);
  std::ranges::reverse(expected);
  expected.resize(HomeFeed::kPageSize);
  WorkOnAll();
  gate_.Close(reader.id);
  std::vector<std::thread> threads;
  threads.emplace_back([&] { EXPECT_EQ(Read(reader.id), expected); });
  gate_.WaitUntilReached();
  // While the gate is closed only requests that do not wait return: one, if the others wait.
  std::latch one_is_back(1);
  std::atomic<size_t> back = 0;
  for (size_t i = 0; i < HomeFeed::kWarmingWaitersMax + 1; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(Read(reader.id), expected);
      if (++back == 1) one_is_back.count_down();
    });
  }
  one_is_back.wait();
  EXPECT_EQ(PagesBy("unwarmed"), 1u);
  gate_.Open(GetParam());
  for (std::thread& thread : threads) thread.join();
  if (GetParam().ok()) {
    EXPECT_EQ(PagesBy("cold"), 1u);
    EXPECT_EQ(PagesBy("hit"), HomeFeed::kWarmingWaitersMax);
    EXPECT_EQ(PagesBy("unwarmed"), 1u);
  } else {
    EXPECT_EQ(PagesBy("degraded"), 1u);
    EXPECT_EQ(PagesBy("unwarmed"), HomeFeed::kWarmingWaitersMax + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Endings, CrowdedHomeFeedTest,
                         testing::Values(Status(), Status(Code::kUnavailable, "no Redis")),
                         [](const auto& ending) { return ending.param.ok() ? "Made" : "Failed"; });

TEST_F(HomeFeedTest, PostsOfAuthorsWithManyFollowersArePulled) {
  const User famous = MakeUser("famous");
  const User reader = MakeUser("reader");
  ASSERT_TRUE(core_.Follow(reader.id, famous.id).ok());
  const PostKey pushed = MakePost(famous);
  WorkOnAll();
  ASSERT_EQ(Read(reader.id), std::vector<PostId>{pushed.id});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(core_.Follow(MakeUser("follower" + std::to_string(i)).id, famous.id).ok());
  }
  const PostKey pulled = MakePost(famous);
  WorkOnAll();
  EXPECT_EQ(*core_.follows().PulledAuthors(), std::vector<UserId>{famous.id});
  const auto mark = core_.cache().ReadMark();
  const auto slice = core_.cache().Read((*mark)->epoch, reader.id, std::nullopt, 10);
  ASSERT_TRUE(slice.ok() && *slice);
  EXPECT_EQ((*slice)->posts, std::vector<PostKey>{pushed}) << "the second was not pushed";
  EXPECT_EQ(Read(reader.id), (std::vector<PostId>{pulled.id, pushed.id}));
}

TEST_F(HomeFeedTest, PostsWhoseEventsWereLostAreRepaired) {
  const User reader = MakeUser("reader");
  const User author = MakeUser("author");
  ASSERT_TRUE(core_.Follow(reader.id, author.id).ok());
  MakePost(author);
  Read(reader.id);
  WorkOnAll();
  const Result<Post> lost =
      PostStore(clock_, collections_).Create(author.id, author.username, "", {});
  ASSERT_TRUE(lost.ok());
  MakePost(author);
  WorkOnAll();
  EXPECT_EQ((*core_.cache().ReadMark())->newest.id, PostId{ToNumber(lost->key.id) - 1});
  EXPECT_EQ(*core_.fan_out().Repair(), 0u) << "its event may still come";
  clock_.Advance(std::chrono::minutes(1));
  EXPECT_EQ(*core_.fan_out().Repair(), 2u);
  EXPECT_EQ((*core_.cache().ReadMark())->newest.id, Next(lost->key.id));
  const auto mark = core_.cache().ReadMark();
  const auto slice = core_.cache().Read((*mark)->epoch, reader.id, std::nullopt, 10);
  EXPECT_EQ((*slice)->posts.size(), 3u);
}

// The cost of the merge: reads depend on the size of the result, not on the number followed.
TEST_F(HomeFeedTest, FollowingFiveThousandReadsLittleMoreThanThePage) {
  constexpr int64_t kAuthors = 5'000;
  constexpr int64_t kPosts = 20'000;
  constexpr size_t kWanted = 11;
  std::mt19937_64 chance(3);
  {
    client::BulkWriter writer = collections_.database().Bulk();
    for (int64_t id = 1; id <= kPosts; ++id) {
      const Post post{.key = {.created_seconds = kNow + id / 5, .id = PostId{id}},
                      .user_id = UserId{1 + static_cast<int64_t>(chance() % kAuthors)},
                      .username = "author",
                      .caption = "",
                      .media = {}};
      writer.Set(collections_.post(PostId{id}), ToDocument(post));
    }
    ASSERT_TRUE(writer.Flush().ok());
  }
  std::vector<UserId> authors(kAuthors);
  std::ranges::generate(authors, [last = UserId{}]() mutable { return last = Next(last); });
  const PostKey before{.created_seconds = kNow + kPosts / 10, .id = PostId{kPosts / 2}};
  ASSERT_TRUE(core_.followed_posts().Find(authors, before, kWanted).ok());  // Makes the index.

  RandomSource random(5);
  FollowedPosts fresh(collections_, random);
  const auto check = [&](size_t reads_max) {
    counts_->Reset();
    const Result<std::vector<Post>> posts = fresh.Find(authors, before, kWanted);
    ASSERT_TRUE(posts.ok()) << posts.status().ToString();
    ASSERT_EQ(posts->size(), kWanted);
    for (size_t i = 0; i < kWanted; ++i) {
      EXPECT_EQ((*posts)[i].key.id, PostId{ToNumber(before.id) - 1 - static_cast<int64_t>(i)});
    }
    // A query without results counts as one.
    EXPECT_LE(counts_->reads(), kAuthors / FollowedPosts::kAuthorsPerQuery + 1 + reads_max);
  };
  check(100);
  check(2 * kWanted);  // Now the best query order is known.
}

// Readers scroll while others post, delete, follow and unfollow.
TEST_F(HomeFeedTest, ScrollingWhileOthersWriteLosesAndRepeatsNothing) {
  const User reader = MakeUser("reader");
  std::vector<User> authors;
  for (int i = 0; i < 4; ++i) {
    authors.push_back(MakeUser("author" + std::to_string(i)));
    ASSERT_TRUE(core_.Follow(reader.id, authors.back().id).ok());
  }
  std::set<PostId> lasting;
  for (size_t i = 0; i < 300; ++i) lasting.insert(MakePost(authors[i % 4]).id);
  core_.fan_out().Start();
  std::atomic<bool> is_over = false;
  // They end by themselves: a feed that grows faster than it is read has no end.
  std::vector<std::thread> writers;
  writers.emplace_back([&] {
    for (int i = 0; i < 100 && !is_over; ++i) {
      clock_.Advance(std::chrono::milliseconds(100));
      const PostKey post = MakePost(authors[0]);
      EXPECT_TRUE(core_.DeletePost(post.id, authors[0].id).ok());
      MakePost(authors[1]);
    }
  });
  const User passing = MakeUser("passing");
  writers.emplace_back([&] {
    for (int i = 0; i < 100 && !is_over; ++i) {
      EXPECT_TRUE(core_.Follow(reader.id, passing.id).ok());
      MakePost(passing);
      EXPECT_TRUE(core_.Unfollow(reader.id, passing.id).ok());
    }
  });
  std::atomic<size_t> pages = 0;
  writers.emplace_back([&] {
    while (!is_over) {
      const size_t seen = pages;
      EXPECT_TRUE(core_.cache().Drop(reader.id).ok());
      pages.wait(seen);
    }
  });
  for (int round = 0; round < 10; ++round) {
    std::set<PostId> missing = lasting;
    std::optional<PostKey> position;
    while (true) {
      const Result<PostPage> page = core_.ReadHome(reader.id, position);
      ++pages;
      pages.notify_one();
      ASSERT_TRUE(page.ok()) << page.status().ToString();
      for (const Post& post : page->posts) {
        EXPECT_TRUE(!position || post.key < *position) << "out of order, or twice";
        position = post.key;
        missing.erase(post.key.id);
      }
      if (!page->has_more) break;
    }
    EXPECT_TRUE(missing.empty()) << missing.size() << " lost in round " << round;
  }
  is_over = true;
  ++pages;
  pages.notify_one();
  for (std::thread& thread : writers) thread.join();
  core_.fan_out().Stop();
}

}  // namespace
}  // namespace hearth::feed
