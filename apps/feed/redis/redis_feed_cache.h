#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/feed/cache/feed_cache.h"
#include "apps/feed/redis/redis_client.h"
#include "base/random.h"

namespace hearth::feed {

// The caches in Redis, for any number of processes. For each user the sorted set "feed:user:ID"
// (post id, by created_at) and, in the same slot of a cluster, the hash "{feed:user:ID}:meta" with
// what the promise needs; the count in it shows when somebody else has changed the set. Each change
// of a user's cache is one script, and so atomic.
//
// A replica that takes over lacks what had not reached it; where that can happen, the mark and the
// caches should be flushed.
//
// Threads: safe for concurrent use. Ownership: borrows the client and the randomness. Errors:
// Unavailable wherever Redis cannot serve, and when more than kAheadMax posts wait for one before
// them to be pushed.
class RedisFeedCache final : public FeedCache {
 public:
  static constexpr int64_t kAheadMax = 10'000;

  RedisFeedCache(RedisClient& client, RandomSource& random) : client_(client), random_(random) {}

  std::string_view kind() const override { return "redis"; }
  Result<std::optional<Mark>> ReadMark() override;
  Status StartEpoch(PostKey newest) override;
  Status MarkPushed(const std::string& epoch, PostKey post) override;
  Result<std::optional<Slice>> Read(const std::string& epoch, UserId user,
                                    const std::optional<PostKey>& before, size_t limit) override;
  Result<std::string> BeginWarming(const std::string& epoch, UserId user) override;
  Status FinishWarming(UserId user, const std::string& ticket, int64_t following_version,
                       const std::vector<PostKey>& posts) override;
  Status Push(const std::string& epoch, const std::vector<UserId>& users, PostKey post) override;
  Status Remove(const std::vector<UserId>& users, PostId post_id) override;
  Result<std::optional<PostKey>> Oldest(UserId user) override;
  Status ApplyFollowing(UserId user, const FollowingChange& change) override;
  Status Drop(UserId user) override;

 private:
  // The same for all users; the first error, if any.
  Status RunForAll(const RedisScript& script, const std::vector<UserId>& users,
                   const std::vector<std::string>& arguments);

  RedisClient& client_;
  RandomSource& random_;
};

}  // namespace hearth::feed
