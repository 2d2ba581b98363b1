#pragma once

#include "apps/feed/redis/redis_client.h"

namespace hearth::feed {

// The scripts of RedisFeedCache. KEYS of those for a user: the sorted set and the hash beside it;
// of those for the mark: the hash and the posts that were pushed ahead. Nothing has more than 2^53
// in it: Lua's numbers, and Redis' scores, are doubles.

// ARGV: epoch, at, id of the cursor (or nothing twice), limit, lifetime. Nil, or the version of the
// list and [id, score, ...]: all candidates, of which the newest `limit` count.
extern const RedisScript kReadFeed;
// ARGV: epoch, ticket, seconds until it is forgotten.
extern const RedisScript kBeginWarming;
// ARGV: ticket, version, cap, lifetime, id, seconds, ... newest first. 1, or 0 for another ticket.
extern const RedisScript kFinishWarming;
// ARGV: epoch, id, seconds, cap.
extern const RedisScript kPushPost;
// ARGV: id.
extern const RedisScript kRemovePost;
// Nil, or [id, score].
extern const RedisScript kOldestPost;
// ARGV: version, cap, seconds and id of `since`, count of added, id, seconds, ..., removed ids.
extern const RedisScript kApplyFollowing;

// Nil, or [epoch, id, seconds].
extern const RedisScript kReadMark;
// ARGV: epoch, id, seconds.
extern const RedisScript kStartEpoch;
// ARGV: epoch, id, seconds, most that are ahead. 1; 0 for another epoch; -1 when there are too
// many.
extern const RedisScript kMarkPushed;

}  // namespace hearth::feed
