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

// The slot of a cluster that a key is in: CRC16 of the key, or of what stands in its first braces.
size_t RedisSlotOf(std::string_view key);

// Which master has which slots.
struct RedisSlotMap {
  std::vector<RedisAddress> masters;
  std::array<int16_t, kRedisSlots> master_of = {};  // Of masters; -1: nobody has it.
};

// Reads the answer to CLUSTER SLOTS. `asked`: whom; a node that does not know its own address
// leaves the host out.
Result<RedisSlotMap> ParseClusterSlots(const RedisReply& reply, const RedisAddress& asked);

// "MOVED 3999 127.0.0.1:6381" or "ASK ...".
struct RedisRedirect {
  size_t slot;
  RedisAddress address;
};
Result<RedisRedirect> ParseRedirect(std::string_view error, const RedisAddress& asked);

}  // namespace hearth::feed
