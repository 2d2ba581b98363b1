#include "apps/feed/testing/model_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/check.h"

namespace hearth::feed {
namespace {

constexpr std::chrono::milliseconds kNoPatience{0};
// Longer than a client of a failed cache waits before it retries.
constexpr std::chrono::minutes kUntilAskedAgain{2};
// Small enough that some authors are pulled.
constexpr int64_t kPushedFollowersMax = 4;

}  // namespace

FeedModel::FeedModel(ModelOptions options, ModelBackend backend, client::Firestore database)
    : options_(options),
      backend_(std::move(backend)),
      chance_(options.seed),
      random_(options.seed),
      collections_(std::move(database), "ci"),
      posts_(clock_, collections_),
      follows_(clock_, collections_) {
  Restart();
  for (int i = 0; i < options_.users; ++i) {
    Result<User> user = core_->users().Create({.username = "user" + std::to_string(i)});
    CHECK(user.ok());
    users_.push_back(*std::move(user));
  }
}

FeedModel::~FeedModel() = default;

void FeedModel::Restart() {
  core_.reset();
  core_ = std::make_unique<FeedCore>(backend_.make(clock_, random_, metrics_, collections_),
                                     FanOutOptions{.pushed_followers_max = kPushedFollowersMax});
}

void FeedModel::Run() {
  PostManyTimes();
  for (step_ = 1; step_ <= options_.steps && !testing::Test::HasFailure(); ++step_) {
    SCOPED_TRACE(backend_.name + ", HEARTH_SEED=" + std::to_string(options_.seed) + ", step " +
                 std::to_string(step_));
    Step();
  }
  if (is_broken_) BreakDownOrComeBack();
  for (const User& user : users_) {
    if (!testing::Test::HasFailure()) CheckScroll(user.id);
  }
}

uint64_t FeedModel::PagesBy(const std::string& path) {
  return metrics_
      .GetCounter("feed_pages_total", "Pages of home feeds, by how they came about.",
                  {{"path", path}})
      .value();
}

void FeedModel::Step() {
  struct Doing {
    size_t weight;
    void (FeedModel::*what)();
  };
  static constexpr std::array kDoings =
      std::to_array<Doing>({{40, &FeedModel::ReadSomething},
                            {16, &FeedModel::WorkOnQueue},
                            {10, &FeedModel::Follow},
                            {5, &FeedModel::Unfollow},
                            {6, &FeedModel::Delete},
                            {3, &FeedModel::Edit},
                            {6, &FeedModel::PassTime},
                            {3, &FeedModel::DropDeliveries},
                            {3, &FeedModel::Harm},
                            {2, &FeedModel::Restart},
                            {2, &FeedModel::BreakDownOrComeBack}});
  constexpr size_t kPostWeight = 25;
  if (OneIn(500)) return PostManyTimes();
  size_t drawn = Below(kPostWeight + 96);
  if (drawn < kPostWeight) return Post(AnyUser());
  drawn -= kPostWeight;
  for (const Doing& doing : kDoings) {
    if (drawn < doing.weight) return (this->*doing.what)();
    drawn -= doing.weight;
  }
}

void FeedModel::Post(UserId author) {
  // Mostly within the same second as the previous post.
  if (OneIn(4)) clock_.Advance(std::chrono::milliseconds(Below(2'500)));
  const std::string caption = "post " + std::to_string(all_posts_.size());
  const auto user = std::ranges::find(users_, author, &User::id);
  Result<feed::Post> post = Status(Code::kUnknown, "not tried");
  if (OneIn(10)) {
    // As if the event was lost: the process dies, or the queue does not take it.
    post = posts_.Create(author, user->username, caption, {});
  } else {
    post = core_->CreatePost(*user, caption, {});
  }
  ASSERT_TRUE(post.ok()) << post.status().ToString();
  ASSERT_EQ(post->key.id, PostId{static_cast<int64_t>(all_posts_.size()) + 1})
      << "ids have no gaps";
  oracle_.Create(post->key, author, caption);
  all_posts_.push_back(post->key.id);
}

void FeedModel::PostManyTimes() {
  const UserId author = AnyUser();
  for (int i = 0; i < options_.posts_of_a_burst; ++i) Post(author);
}

void FeedModel::Delete() {
  const std::vector<PostId> living = oracle_.LivingPosts();
  if (living.empty()) return;
  // Prefers recent posts: those are cached.
  const size_t recent = std::min<size_t>(living.size(), 60);
  const PostId id = living[living.size() - 1 - Below(recent)];
  const UserId author = oracle_.AuthorOf(id);
  if (OneIn(5)) {
    ASSERT_TRUE(posts_.Delete(id, author).ok());
  } else {
    ASSERT_TRUE(core_->DeletePost(id, author).ok());
  }
  oracle_.Delete(id);
}

void FeedModel::Edit() {
  const std::vector<PostId> living = oracle_.LivingPosts();
  if (living.empty()) return;
  const PostId id = living[Below(living.size())];
  const std::string caption = "edited in step " + std::to_string(step_);
  ASSERT_TRUE(core_->EditCaption(id, oracle_.AuthorOf(id), caption).ok());
  oracle_.Edit(id, caption);
}

void FeedModel::Follow() {
  const UserId user = AnyUser();
  const UserId followed = AnyUser();
  const Status status =
      OneIn(5) ? follows_.Follow(user, followed).status() : core_->Follow(user, followed);
  if (user == followed) {
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
  } else if (oracle_.Follows(user, followed)) {
    EXPECT_EQ(status.code(), Code::kAlreadyExists);
  } else {
    EXPECT_TRUE(status.ok()) << status.ToString();
    oracle_.Follow(user, followed);
  }
}

void FeedModel::Unfollow() {
  const UserId user = AnyUser();
  const UserId followed = AnyUser();
  const Status status =
      OneIn(5) ? follows_.Unfollow(user, followed).status() : core_->Unfollow(user, followed);
  EXPECT_EQ(status.ok(), oracle_.Follows(user, followed)) << status.ToString();
  oracle_.Unfollow(user, followed);
}

void FeedModel::PassTime() {
  if (OneIn(10)) {
    clock_.Advance(FeedCache::kLifetime + std::chrono::seconds(1));
  } else {
    clock_.Advance(std::chrono::seconds(Below(120)));
  }
}

void FeedModel::WorkOnQueue() {
  if (OneIn(6)) return WorkUntilAnswered([this] { return core_->fan_out().Repair(); });
  for (size_t batches = 1 + Below(6); batches > 0; --batches) {
    WorkUntilAnswered([this] { return core_->fan_out().RunOnce(kNoPatience); });
  }
}

void FeedModel::WorkUntilAnswered(const std::function<Result<size_t>()>& work) {
  Result<size_t> done = work();
  // On a busy machine even a healthy Redis may answer too late.
  while (!is_broken_ && done.status().code() == Code::kUnavailable) {
    clock_.Advance(kUntilAskedAgain);
    done = work();
  }
  EXPECT_TRUE(done.ok() || is_broken_) << done.status().ToString();
}

void FeedModel::DropDeliveries() {
  IgnoreError(core_->queue().Take(kNoPatience).status(), "the queue may be out of reach");
}

void FeedModel::Harm() {
  if (is_broken_ || backend_.harms.empty()) return;
  std::vector<UserId> ids;
  for (const User& user : users_) ids.push_back(user.id);
  backend_.harms[Below(backend_.harms.size())](chance_, *core_, ids);
}

void FeedModel::BreakDownOrComeBack() {
  if (!backend_.break_down) return;
  (is_broken_ ? backend_.come_back : backend_.break_down)();
  is_broken_ = !is_broken_;
  if (!is_broken_) clock_.Advance(kUntilAskedAgain);
}

void FeedModel::ReadSomething() {
  const UserId user = AnyUser();
  std::optional<PostKey>& position = positions_[user];
  switch (Below(8)) {
    case 0:
      return CheckScroll(user);
    case 1:
      position.reset();
      break;
    case 2:  // From any post, deleted or not, by any author.
      if (!all_posts_.empty()) position = oracle_.KeyOf(all_posts_[Below(all_posts_.size())]);
      break;
    case 3:  // From a position without a post.
      position = PostKey{
          .created_seconds = clock_.WallMicros() / 1'000'000 - static_cast<int64_t>(Below(200)),
          .id = PostId{static_cast<int64_t>(Below(all_posts_.size() + 100))}};
      break;
    default:
      break;
  }
  CheckPage(user, position);
  const FeedOracle::Page page = oracle_.Find(user, position, HomeFeed::kPageSize);
  position = page.has_more ? std::optional(oracle_.KeyOf(page.ids.back())) : std::nullopt;
}

void FeedModel::CheckPage(UserId user, const std::optional<PostKey>& before) {
  const Result<PostPage> page = core_->ReadHome(user, before);
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  FeedOracle::Page seen{.has_more = page->has_more};
  for (const feed::Post& post : page->posts) {
    seen.ids.push_back(post.key.id);
    seen.captions.push_back(post.caption);
  }
  const FeedOracle::Page wanted = oracle_.Find(user, before, HomeFeed::kPageSize);
  EXPECT_EQ(seen.ids, wanted.ids) << "user " << user << " before "
                                  << (before ? FormatCursor(*before) : "nothing");
  EXPECT_EQ(seen.captions, wanted.captions);
  EXPECT_EQ(seen.has_more, wanted.has_more);
}

void FeedModel::CheckScroll(UserId user) {
  std::optional<PostKey> before;
  while (true) {
    CheckPage(user, before);
    if (testing::Test::HasFailure()) return;
    const FeedOracle::Page page = oracle_.Find(user, before, HomeFeed::kPageSize);
    if (!page.has_more) return;
    before = oracle_.KeyOf(page.ids.back());
  }
}

}  // namespace hearth::feed
