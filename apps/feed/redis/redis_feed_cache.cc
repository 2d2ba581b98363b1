#include "apps/feed/redis/redis_feed_cache.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "apps/feed/cache/random_name.h"
#include "apps/feed/redis/redis_feed_scripts.h"
#include "base/status_macros.h"

namespace hearth::feed {
namespace {

std::vector<std::string> KeysOf(UserId user) {
  const std::string set = "feed:user:" + ToText(user);
  return {set, "{" + set + "}:meta"};
}

const std::vector<std::string>& MarkKeys() {
  static const std::vector<std::string> keys = {"{feed:fanout}:mark", "{feed:fanout}:ahead"};
  return keys;
}

const std::string& CapText() {
  static const std::string text = std::to_string(FeedCache::kPostsMax);
  return text;
}

const std::string& LifetimeText() {
  static const std::string text = std::to_string(FeedCache::kLifetime.count());
  return text;
}

// [id, seconds]
Result<PostKey> ReadKey(const RedisReply& id, const RedisReply& seconds) {
  ASSIGN_OR_RETURN(const int64_t id_number, id.ToInteger());
  ASSIGN_OR_RETURN(const int64_t seconds_number, seconds.ToInteger());
  return PostKey{.created_seconds = seconds_number, .id = PostId{id_number}};
}

void AddPosts(const std::vector<PostKey>& posts, std::vector<std::string>* arguments) {
  for (const PostKey& post : posts) {
    arguments->push_back(ToText(post.id));
    arguments->push_back(std::to_string(post.created_seconds));
  }
}

// The newest `limit` of [id, seconds, ...], which may contain duplicates.
Result<FeedCache::Slice> ReadSlice(const RedisReply& reply, const std::optional<PostKey>& before,
                                   size_t limit) {
  const Status bad(Code::kDataLoss, "a cached feed in Redis is not understood");
  if (reply.elements.size() != 2 || reply.elements[1].elements.size() % 2 != 0) return bad;
  ASSIGN_OR_RETURN(const int64_t version, reply.elements[0].ToInteger());
  const std::vector<RedisReply>& parts = reply.elements[1].elements;
  std::set<PostKey, std::greater<>> posts;
  for (size_t i = 0; i < parts.size(); i += 2) {
    ASSIGN_OR_RETURN(const PostKey post, ReadKey(parts[i], parts[i + 1]));
    if (!before || post < *before) posts.insert(post);
  }
  FeedCache::Slice slice{version, {}, posts.size() <= limit};
  for (const PostKey& post : posts) {
    if (slice.posts.size() == limit) break;
    slice.posts.push_back(post);
  }
  return slice;
}

}  // namespace

Result<std::optional<FeedCache::Mark>> RedisFeedCache::ReadMark() {
  ASSIGN_OR_RETURN(const RedisReply reply, client_.Run(CallScript(kReadMark, MarkKeys(), {})));
  if (reply.elements.size() != 3) return std::optional<Mark>();
  ASSIGN_OR_RETURN(const PostKey newest, ReadKey(reply.elements[1], reply.elements[2]));
  return std::optional<Mark>(Mark{newest, reply.elements[0].text});
}

Status RedisFeedCache::StartEpoch(PostKey newest) {
  return client_
      .Run(CallScript(
          kStartEpoch, MarkKeys(),
          {RandomName(random_), ToText(newest.id), std::to_string(newest.created_seconds)}))
      .status();
}

Status RedisFeedCache::MarkPushed(const std::string& epoch, PostKey post) {
  ASSIGN_OR_RETURN(
      const RedisReply reply,
      client_.Run(CallScript(kMarkPushed, MarkKeys(),
                             {epoch, ToText(post.id), std::to_string(post.created_seconds),
                              std::to_string(kAheadMax)})));
  if (reply.integer == 0) return Status(Code::kAborted, "the epoch has changed");
  if (reply.integer < 0) {
    return Status(Code::kUnavailable,
                  "too many posts are waiting for an earlier post to be pushed");
  }
  return Status();
}

Result<std::optional<FeedCache::Slice>> RedisFeedCache::Read(const std::string& epoch, UserId user,
                                                             const std::optional<PostKey>& before,
                                                             size_t limit) {
  // The cap returns everything, and keeps Lua's numbers exact.
  const std::string asked = std::to_string(std::min(limit, kPostsMax));
  ASSIGN_OR_RETURN(
      const RedisReply reply,
      client_.Run(CallScript(kReadFeed, KeysOf(user),
                             {epoch, before ? std::to_string(before->created_seconds) : "",
                              before ? ToText(before->id) : "", asked, LifetimeText()})));
  if (!reply.IsArray()) return std::optional<Slice>();
  Result<Slice> slice = ReadSlice(reply, before, limit);
  if (!slice.ok()) {
    RETURN_IF_ERROR(Drop(user));  // It was tampered with.
    return std::optional<Slice>();
  }
  return std::optional<Slice>(*std::move(slice));
}

Result<std::string> RedisFeedCache::BeginWarming(const std::string& epoch, UserId user) {
  std::string ticket = RandomName(random_);
  RETURN_IF_ERROR(client_
                      .Run(CallScript(kBeginWarming, KeysOf(user),
                                      {epoch, ticket, std::to_string(kWarmingMax.count())}))
                      .status());
  return ticket;
}

Status RedisFeedCache::FinishWarming(UserId user, const std::string& ticket,
                                     int64_t following_version, const std::vector<PostKey>& posts) {
  std::vector<PostKey> newest_first = posts;
  std::sort(newest_first.begin(), newest_first.end(), std::greater<>());
  std::vector<std::string> arguments = {ticket, std::to_string(following_version), CapText(),
                                        LifetimeText()};
  AddPosts(newest_first, &arguments);
  ASSIGN_OR_RETURN(const RedisReply reply,
                   client_.Run(CallScript(kFinishWarming, KeysOf(user), std::move(arguments))));
  if (reply.integer == 0) return Status(Code::kAborted, "the warming ticket is no longer valid");
  return Status();
}

Status RedisFeedCache::Push(const std::string& epoch, const std::vector<UserId>& users,
                            PostKey post) {
  return RunForAll(kPushPost, users,
                   {epoch, ToText(post.id), std::to_string(post.created_seconds), CapText()});
}

Status RedisFeedCache::Remove(const std::vector<UserId>& users, PostId post_id) {
  return RunForAll(kRemovePost, users, {ToText(post_id)});
}

Result<std::optional<PostKey>> RedisFeedCache::Oldest(UserId user) {
  ASSIGN_OR_RETURN(const RedisReply reply, client_.Run(CallScript(kOldestPost, KeysOf(user), {})));
  if (reply.elements.size() != 2) return std::optional<PostKey>();
  const Result<PostKey> oldest = ReadKey(reply.elements[0], reply.elements[1]);
  if (!oldest.ok()) {
    RETURN_IF_ERROR(Drop(user));  // It was tampered with.
    return std::optional<PostKey>();
  }
  return std::optional<PostKey>(*oldest);
}

Status RedisFeedCache::ApplyFollowing(UserId user, const FollowingChange& change) {
  std::vector<std::string> arguments = {
      std::to_string(change.version), CapText(), std::to_string(change.since.created_seconds),
      ToText(change.since.id), std::to_string(change.added.size())};
  AddPosts(change.added, &arguments);
  for (const PostId id : change.removed) arguments.push_back(ToText(id));
  return client_.Run(CallScript(kApplyFollowing, KeysOf(user), std::move(arguments))).status();
}

Status RedisFeedCache::Drop(UserId user) {
  const std::vector<std::string> keys = KeysOf(user);
  return client_.Run({.arguments = {"DEL", keys[0], keys[1]}, .key = keys[0]}).status();
}

Status RedisFeedCache::RunForAll(const RedisScript& script, const std::vector<UserId>& users,
                                 const std::vector<std::string>& arguments) {
  std::vector<RedisCommand> commands;
  commands.reserve(users.size());
  for (const UserId user : users) {
    commands.push_back(CallScript(script, KeysOf(user), arguments));
  }
  for (const Result<RedisReply>& reply : client_.Pipeline(commands)) {
    RETURN_IF_ERROR(reply.status());
  }
  return Status();
}

}  // namespace hearth::feed
