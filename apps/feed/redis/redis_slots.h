#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/feed/redis/redis_address.h"
#include "apps/feed/redis/redis_reply.h"
#include "base/status.h"

namespace hearth::feed {

inline constexpr size_t kRedisSlots = 16'384;

// The cluster slot of a key: CRC16 of the key, or of its hash tag (the text in its first braces).
size_t RedisSlotOf(std::string_view key);

// The masters and their slots.
struct RedisSlotMap {
  std::vector<RedisAddress> masters;
  std::array<int16_t, kRedisSlots> master_of = {};  // Index into masters; -1: unassigned.
};

// Parses the reply to CLUSTER SLOTS. `asked`: the node that replied; a node that does not know its
// own address omits the host.
Result<RedisSlotMap> ParseClusterSlots(const RedisReply& reply, const RedisAddress& asked);

// "MOVED 3999 127.0.0.1:6381" or "ASK ...".
struct RedisRedirect {
  size_t slot;
  RedisAddress address;
};
Result<RedisRedirect> ParseRedirect(std::string_view error, const RedisAddress& asked);

}  // namespace hearth::feed
