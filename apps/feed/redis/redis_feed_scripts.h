#pragma once

#include "apps/feed/redis/redis_client.h"

namespace hearth::feed {

// The scripts of RedisFeedCache. KEYS of those for a user: the sorted set and its hash; of those
// for the mark: the hash and the posts that were pushed ahead. No number exceeds 2^53, because
// Lua's numbers and Redis's scores are doubles.

// ARGV: epoch, at, id of the cursor (or two empty strings), limit, lifetime. Returns nil, or the
// list's version and [id, score, ...]: all candidates, of which the newest `limit` count.
extern const RedisScript kReadFeed;
// ARGV: epoch, ticket, seconds until it is dropped.
extern const RedisScript kBeginWarming;
// ARGV: ticket, version, cap, lifetime, id, seconds, ... newest first. Returns 1, or 0 for another
// ticket.
extern const RedisScript kFinishWarming;
// ARGV: epoch, id, seconds, cap.
extern const RedisScript kPushPost;
// ARGV: id.
extern const RedisScript kRemovePost;
// Returns nil, or [id, score].
extern const RedisScript kOldestPost;
// ARGV: version, cap, seconds and id of `since`, count of added, id, seconds, ..., removed ids.
extern const RedisScript kApplyFollowing;

// Returns nil, or [epoch, id, seconds].
extern const RedisScript kReadMark;
// ARGV: epoch, id, seconds.
extern const RedisScript kStartEpoch;
// ARGV: epoch, id, seconds, maximum ahead. Returns 1; 0 for another epoch; -1 if too many are
// ahead.
extern const RedisScript kMarkPushed;

}  // namespace hearth::feed
