#include "apps/feed/core/fan_out.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "apps/feed/core/home_feed.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace hearth::feed {

FanOut::FanOut(FanOutOptions options, Parts parts)
    : options_(options),
      parts_(parts),
      events_done_(
          parts.metrics.GetCounter("feed_events_total", "Fan-out events.", {{"outcome", "done"}})),
      events_failed_(parts.metrics.GetCounter("feed_events_total", "Fan-out events.",
                                              {{"outcome", "failed"}})),
      repaired_posts_(parts.metrics.GetCounter(
          "feed_repaired_posts_total", "Posts pushed to caches because their event was lost.")),
      lag_(parts.metrics.GetGauge("feed_unpushed_posts", "Posts that are not in the caches yet.")) {
}

FanOut::~FanOut() { Stop(); }

void FanOut::Start() {
  for (size_t i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { Work(); });
  threads_.emplace_back([this] { RepairNowAndThen(); });
}

void FanOut::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    stop_requested_.NotifyAll();
  }
  parts_.queue.Stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void FanOut::Work() {
  bool was_reachable = true;
  do {
    const Result<size_t> done = RunOnce(kPatience);
    if (!done.ok() && was_reachable) {
      Log(LogLevel::kWarning, "feed: the queue cannot be reached",
          {{"reason", done.status().ToString()}});
    }
    was_reachable = done.ok();
  } while (Sleep(was_reachable ? std::chrono::milliseconds(0) : kPause));
}

void FanOut::RepairNowAndThen() {
  while (Sleep(options_.repair_period)) {
    const Result<size_t> repaired = Repair();
    if (repaired.ok()) continue;
    Log(LogLevel::kWarning, "feed: the caches could not be repaired",
        {{"reason", repaired.status().ToString()}});
  }
}

bool FanOut::Sleep(std::chrono::milliseconds time) {
  MutexLock lock(mutex_);
  // A spurious wake-up only makes the next run come sooner.
  if (!stopping_ && time.count() > 0) stop_requested_.WaitFor(mutex_, time);
  return !stopping_;
}

Result<size_t> FanOut::RunOnce(std::chrono::milliseconds patience) {
  ASSIGN_OR_RETURN(const std::vector<FeedQueue::Delivery> deliveries, parts_.queue.Take(patience));
  for (const FeedQueue::Delivery& delivery : deliveries) {
    const Status processed = Process(delivery.event, [&] {
      IgnoreError(parts_.queue.KeepAlive(delivery), "at worst another worker does it as well");
    });
    if (processed.ok()) {
      events_done_.Add();
      IgnoreError(parts_.queue.Finish(delivery), "at worst it is done twice");
      continue;
    }
    events_failed_.Add();
    Log(LogLevel::kWarning, "feed: an event failed",
        {{"kind", std::string(ToString(delivery.event.kind))},
         {"try", std::to_string(delivery.tries)},
         {"reason", processed.ToString()}});
    IgnoreError(parts_.queue.Fail(delivery, processed), "it is redelivered automatically");
  }
  return deliveries.size();
}

Result<size_t> FanOut::Repair() {
  ASSIGN_OR_RETURN(const FeedCache::Mark mark, EnsureMark(parts_.cache, parts_.posts));
  ASSIGN_OR_RETURN(const std::vector<Post> posts,
                   parts_.posts.ListAfter(mark.newest.id, kRepairedPerRun));
  lag_.Set(static_cast<double>(posts.size()));
  const int64_t newest_seconds =
      parts_.clock.WallMicros() / 1'000'000 - options_.repair_age.count();
  size_t repaired = 0;
  for (const Post& post : posts) {
    if (post.key.created_seconds > newest_seconds) break;
    RETURN_IF_ERROR(Push(post.user_id, post.key, [] {}));
    ++repaired;
  }
  repaired_posts_.Add(repaired);
  return repaired;
}

Status FanOut::Process(const FeedEvent& event, const KeepAlive& keep_alive) {
  switch (event.kind) {
    case FeedEvent::Kind::kPostCreated:
      return Push(event.author_id, event.post, keep_alive);
    case FeedEvent::Kind::kPostDeleted:
      return Remove(event.author_id, event.post, keep_alive);
    case FeedEvent::Kind::kUserFollowed:
    case FeedEvent::Kind::kUserUnfollowed:
      return ChangeFollowing(event);
  }
  return InvalidArgument("unknown event kind");
}

Status FanOut::Push(UserId author, PostKey post, const KeepAlive& keep_alive) {
  ASSIGN_OR_RETURN(const FeedCache::Mark mark, EnsureMark(parts_.cache, parts_.posts));
  if (post.id <= mark.newest.id) return Status();  // The repair was faster.
  parts_.followed_posts.Note(author, post);
  ASSIGN_OR_RETURN(const bool is_pulled, IsPulled(author));
  if (!is_pulled) {
    RETURN_IF_ERROR(
        parts_.follows.ForEachFollower(author, [&](const std::vector<UserId>& followers) {
          keep_alive();
          return parts_.cache.Push(mark.epoch, followers, post);
        }));
  }
  return parts_.cache.MarkPushed(mark.epoch, post);
}

Status FanOut::Remove(UserId author, PostKey post, const KeepAlive& keep_alive) {
  return parts_.follows.ForEachFollower(author, [&](const std::vector<UserId>& followers) {
    keep_alive();
    return parts_.cache.Remove(followers, post.id);
  });
}

Status FanOut::ChangeFollowing(const FeedEvent& event) {
  ASSIGN_OR_RETURN(const std::optional<PostKey> oldest, parts_.cache.Oldest(event.user_id));
  if (!oldest) return Status();
  FeedCache::FollowingChange change{.version = event.following_version, .since = *oldest};
  ASSIGN_OR_RETURN(
      const std::vector<Post> posts,
      parts_.followed_posts.Find({event.author_id}, std::nullopt, FeedCache::kPostsMax, oldest));
  for (const Post& post : posts) {
    if (event.kind == FeedEvent::Kind::kUserFollowed) {
      change.added.push_back(post.key);
    } else {
      change.removed.push_back(post.key.id);
    }
  }
  return parts_.cache.ApplyFollowing(event.user_id, change);
}

Result<bool> FanOut::IsPulled(UserId author) {
  ASSIGN_OR_RETURN(const std::vector<UserId> pulled, parts_.follows.PulledAuthors());
  if (std::ranges::binary_search(pulled, author)) return true;
  ASSIGN_OR_RETURN(const User user, parts_.users.Get(author));
  if (user.follower_count <= options_.pushed_followers_max) return false;
  RETURN_IF_ERROR(parts_.follows.AddPulledAuthor(author));
  return true;
}

}  // namespace hearth::feed
