#include "apps/feed/redis/redis_feed_scripts.h"

namespace hearth::feed {
namespace {

// Makes Redis refuse these scripts as a whole when out of memory. Without this line it checks only
// the first write, and a script that begins with a deletion could go on to fill memory.
const std::string kNeedsMemory = "#!lua\n";

// Shared by the scripts for a user. `load` drops a cache that is not as it was left: another
// program changed it, or Redis evicted one of the two keys.
const std::string kUserPrelude = R"lua(
local set, meta = KEYS[1], KEYS[2]
local function drop() redis.call('DEL', set, meta) end
-- The first and the last entry. Together with the count they reveal most changes by other programs.
local function ends()
  return (redis.call('ZRANGE', set, 0, 0)[1] or '') .. ' ' .. (redis.call('ZRANGE', set, -1, -1)[1] or '')
end
local function load()
  local have = redis.pcall('HMGET', meta, 'epoch', 'state', 'ticket', 'version', 'count', 'ends')
  local card = redis.pcall('ZCARD', set)
  if have.err or type(card) == 'table' then drop() return nil end
  if not have[1] and card == 0 then return nil end
  local version = tonumber(have[4] or '0')
  if not have[1] or not version or tonumber(have[5]) ~= card then drop() return nil end
  if have[6] ~= ends() then drop() return nil end
  local is_warming = have[2] == 'warming'
  if card == 0 and not is_warming then drop() return nil end
  return {epoch = have[1], is_warming = is_warming, ticket = have[3], version = version}
end
local function older_id(a, b)  -- Members are decimal numbers; Redis orders them as strings.
  if #a ~= #b then return #a < #b end
  return a < b
end
local function oldest()
  local first = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')
  if #first == 0 then return nil end
  local id = first[1]
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', set, first[2], first[2])) do
    if older_id(other, id) then id = other end
  end
  return {id = id, seconds = tonumber(first[2]), score = first[2]}
end
local function is_older(seconds, id, than)
  if tonumber(seconds) ~= than.seconds then return tonumber(seconds) < than.seconds end
  return older_id(id, than.id)
end
local function trim(cap)
  local over = redis.call('ZCARD', set) - tonumber(cap)
  while over > 0 do
    local score = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
    local tied = redis.call('ZRANGEBYSCORE', set, score, score)
    table.sort(tied, older_id)
    for i = 1, math.min(over, #tied) do redis.call('ZREM', set, tied[i]) end
    over = over - #tied
  end
end
local function seal()
  redis.call('HSET', meta, 'count', redis.call('ZCARD', set), 'ends', ends())
end
)lua";

// An unreadable mark counts as lost.
const std::string kMarkPrelude = R"lua(
local mark, ahead = KEYS[1], KEYS[2]
local function load()
  local have = redis.pcall('HMGET', mark, 'epoch', 'id', 'seconds')
  if have.err or not (have[1] and tonumber(have[2]) and tonumber(have[3])) then
    redis.call('DEL', mark, ahead)
    return nil
  end
  return have
end
)lua";

}  // namespace

const RedisScript kReadFeed{kUserPrelude + R"lua(
local epoch, at, limit, lifetime = ARGV[1], ARGV[2], tonumber(ARGV[4]), ARGV[5]
local cache = load()
if not cache or cache.is_warming or cache.epoch ~= epoch then return false end
local posts = {}
local function add(some) for _, part in ipairs(some) do posts[#posts + 1] = part end end
local from = '+inf'
if at ~= '' then
  -- Those of the cursor's own second: which of them come after it is for the reader to say.
  add(redis.call('ZRANGEBYSCORE', set, at, at, 'WITHSCORES'))
  from = '(' .. at
end
local rest = redis.call('ZREVRANGEBYSCORE', set, from, '-inf', 'WITHSCORES', 'LIMIT', 0, limit + 1)
add(rest)
if #rest == 2 * (limit + 1) then
  -- There may be more of the last second, and with higher ids.
  add(redis.call('ZRANGEBYSCORE', set, rest[#rest], rest[#rest], 'WITHSCORES'))
end
redis.call('EXPIRE', set, lifetime)
redis.call('EXPIRE', meta, lifetime)
return {tostring(cache.version), posts}
)lua"};

const RedisScript kBeginWarming{kNeedsMemory + kUserPrelude + R"lua(
drop()
redis.call('HSET', meta, 'epoch', ARGV[1], 'state', 'warming', 'ticket', ARGV[2], 'count', 0, 'ends', ' ')
redis.call('EXPIRE', meta, ARGV[3])
return 1
)lua"};

const RedisScript kFinishWarming{kNeedsMemory + kUserPrelude + R"lua(
local cache = load()
if not cache or cache.ticket ~= ARGV[1] then return 0 end
if not cache.is_warming then return 1 end  -- By a call whose answer was lost.
if #ARGV < 6 then drop() return 1 end
-- What was pushed and is older than all that the database said would follow a gap.
local last = {id = ARGV[#ARGV - 1], seconds = tonumber(ARGV[#ARGV])}
redis.call('ZREMRANGEBYSCORE', set, '-inf', '(' .. ARGV[#ARGV])
for _, id in ipairs(redis.call('ZRANGEBYSCORE', set, ARGV[#ARGV], ARGV[#ARGV])) do
  if older_id(id, last.id) then redis.call('ZREM', set, id) end
end
for i = 5, #ARGV, 2 do redis.call('ZADD', set, ARGV[i + 1], ARGV[i]) end
trim(ARGV[3])
redis.call('HSET', meta, 'state', 'ready', 'version', ARGV[2])
seal()
redis.call('EXPIRE', set, ARGV[4])
redis.call('EXPIRE', meta, ARGV[4])
return 1
)lua"};

const RedisScript kPushPost{kNeedsMemory + kUserPrelude + R"lua(
local id, seconds = ARGV[2], ARGV[3]
local cache = load()
if not cache or cache.epoch ~= ARGV[1] then return 0 end
if not cache.is_warming and is_older(seconds, id, oldest()) then return 0 end
redis.call('ZADD', set, seconds, id)
trim(ARGV[4])
seal()
if cache.is_warming then redis.call('PEXPIRE', set, redis.call('PTTL', meta)) end
return 1
)lua"};

const RedisScript kRemovePost{kUserPrelude + R"lua(
local cache = load()
if not cache or redis.call('ZREM', set, ARGV[1]) == 0 then return 0 end
if not cache.is_warming and redis.call('ZCARD', set) == 0 then drop() return 1 end
seal()
return 1
)lua"};

const RedisScript kOldestPost{kUserPrelude + R"lua(
local cache = load()
if not cache or cache.is_warming then return false end
local first = oldest()
if not first then return false end
return {first.id, first.score}
)lua"};

const RedisScript kApplyFollowing{kNeedsMemory + kUserPrelude + R"lua(
local version = tonumber(ARGV[1])
local cache = load()
if not cache or cache.is_warming or cache.version >= version then return 0 end
local first = oldest()
local since = {seconds = tonumber(ARGV[3]), id = ARGV[4]}
if cache.version ~= version - 1 or is_older(first.score, first.id, since) then drop() return 0 end
local removed_from = 6 + 2 * tonumber(ARGV[5])
for i = 6, removed_from - 1, 2 do
  if not is_older(ARGV[i + 1], ARGV[i], first) then redis.call('ZADD', set, ARGV[i + 1], ARGV[i]) end
end
for i = removed_from, #ARGV do redis.call('ZREM', set, ARGV[i]) end
if redis.call('ZCARD', set) == 0 then drop() return 1 end
trim(ARGV[2])
redis.call('HSET', meta, 'version', ARGV[1])
seal()
return 1
)lua"};

const RedisScript kReadMark{kMarkPrelude + R"lua(
return load() or false
)lua"};

const RedisScript kStartEpoch{kNeedsMemory + kMarkPrelude + R"lua(
if load() then return 0 end
redis.call('DEL', ahead)
redis.call('HSET', mark, 'epoch', ARGV[1], 'id', ARGV[2], 'seconds', ARGV[3])
return 1
)lua"};

const RedisScript kMarkPushed{kNeedsMemory + kMarkPrelude + R"lua(
local have = load()
if not have or have[1] ~= ARGV[1] then return 0 end
local newest, id, seconds = tonumber(have[2]), tonumber(ARGV[2]), ARGV[3]
if id <= newest then return 1 end
local kind = redis.call('TYPE', ahead).ok
if kind ~= 'hash' and kind ~= 'none' then redis.call('DEL', ahead) end
if id > newest + 1 then
  if redis.call('HLEN', ahead) >= tonumber(ARGV[4]) and
     redis.call('HEXISTS', ahead, ARGV[2]) == 0 then return -1 end
  redis.call('HSET', ahead, ARGV[2], seconds)
  return 1
end
local next_seconds = seconds
while next_seconds do
  newest, seconds = id, next_seconds
  id = id + 1
  local field = string.format('%.0f', id)
  next_seconds = redis.call('HGET', ahead, field)
  if next_seconds then redis.call('HDEL', ahead, field) end
end
redis.call('HSET', mark, 'id', string.format('%.0f', newest), 'seconds', seconds)
return 1
)lua"};

}  // namespace hearth::feed
