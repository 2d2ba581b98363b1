#include "apps/feed/core/feed_core.h"

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace hearth::feed {

FeedCore::FeedCore(Parts parts, FanOutOptions options)
    : cache_(std::move(parts.cache)),
      queue_(std::move(parts.queue)),
      users_(parts.clock, parts.collections),
      follows_(parts.clock, parts.collections),
      posts_(parts.clock, parts.collections),
      comments_(parts.clock, parts.collections, posts_),
      followed_posts_(parts.collections, parts.random),
      home_(*cache_, follows_, posts_, followed_posts_, parts.metrics),
      fan_out_(options, {.clock = parts.clock,
                         .cache = *cache_,
                         .queue = *queue_,
                         .users = users_,
                         .follows = follows_,
                         .posts = posts_,
                         .followed_posts = followed_posts_,
                         .metrics = parts.metrics}),
      unpublished_events_(parts.metrics.GetCounter("feed_unpublished_events_total",
                                                   "Events that the queue did not take.")) {}

void FeedCore::Publish(const FeedEvent& event) {
  const Status published = queue_->Publish(event);
  if (published.ok()) return;
  unpublished_events_.Add();
  Log(LogLevel::kWarning, "feed: an event was not published",
      {{"kind", std::string(ToString(event.kind))}, {"reason", published.ToString()}});
}

Result<Post> FeedCore::CreatePost(const User& author, const std::string& caption,
                                  const std::vector<Media>& media,
                                  std::optional<int64_t> created_seconds) {
  ASSIGN_OR_RETURN(Post post,
                   posts_.Create(author.id, author.username, caption, media, created_seconds));
  Publish({.kind = FeedEvent::Kind::kPostCreated, .author_id = author.id, .post = post.key});
  return post;
}

Status FeedCore::DeletePost(PostId post_id, UserId user_id) {
  ASSIGN_OR_RETURN(const Post post, posts_.Delete(post_id, user_id));
  Publish({.kind = FeedEvent::Kind::kPostDeleted, .author_id = user_id, .post = post.key});
  return Status();
}

Status FeedCore::Follow(UserId user, UserId followed) {
  ASSIGN_OR_RETURN(const int64_t version, follows_.Follow(user, followed));
  Publish({.kind = FeedEvent::Kind::kUserFollowed,
           .author_id = followed,
           .user_id = user,
           .following_version = version});
  return Status();
}

Status FeedCore::Unfollow(UserId user, UserId followed) {
  ASSIGN_OR_RETURN(const int64_t version, follows_.Unfollow(user, followed));
  Publish({.kind = FeedEvent::Kind::kUserUnfollowed,
           .author_id = followed,
           .user_id = user,
           .following_version = version});
  return Status();
}

nlohmann::json FeedCore::Health() {
  const Result<PostKey> newest = posts_.Newest();
  const Result<std::optional<FeedCache::Mark>> mark = cache_->ReadMark();
  const Result<FeedQueue::Depth> depth = queue_->Measure();
  nlohmann::json health = {{"database", {{"ok", newest.ok()}}},
                           {"cache", {{"ok", mark.ok()}, {"kind", cache_->kind()}}},
                           {"queue", {{"ok", depth.ok()}}},
                           {"fan_out", nlohmann::json::object()}};
  if (depth.ok()) {
    health["queue"]["waiting"] = depth->waiting;
    health["queue"]["dead"] = depth->dead;
  }
  if (newest.ok()) health["fan_out"]["newest_post"] = newest->id;
  if (mark.ok() && *mark) health["fan_out"]["pushed_post"] = (*mark)->newest.id;
  const bool is_ok = newest.ok() && mark.ok() && depth.ok();
  health["status"] = is_ok ? "ok" : newest.ok() ? "degraded" : "unavailable";
  return health;
}

}  // namespace hearth::feed
