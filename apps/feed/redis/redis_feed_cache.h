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

// The caches in Redis, for any number of processes. Per user: the sorted set "feed:user:ID" (post
// id, by created_at) and, in the same cluster slot, the hash "{feed:user:ID}:meta" with the data
// for the invariant. The count in it reveals foreign changes to the set. Each change of a user's
// cache is one script, and so atomic.
//
// A replica that takes over lacks recent writes. Where that can happen, flush the mark and the
// caches.
//
// Threads: safe for concurrent use. Ownership: borrows the client and the random source. Errors:
// Unavailable if Redis cannot serve, or if more than kAheadMax posts wait for an earlier one to be
// pushed.
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
  // The same for all users; returns the first error.
  Status RunForAll(const RedisScript& script, const std::vector<UserId>& users,
                   const std::vector<std::string>& arguments);

  RedisClient& client_;
  RandomSource& random_;
};

}  // namespace hearth::feed
