#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hearth::feed {

struct RedisAddress {
  std::string host;
  uint16_t port = 0;

  std::string ToString() const { return host + ":" + std::to_string(port); }
  friend auto operator<=>(const RedisAddress&, const RedisAddress&) = default;
};

// "host:port". The last colon counts, so that IPv6 addresses may be written as they are.
Result<RedisAddress> ParseRedisAddress(std::string_view text);
// "host:port[,host:port...]": one server, or some of a cluster's. InvalidArgument names the part
// that is wrong.
Result<std::vector<RedisAddress>> ParseRedisAddresses(std::string_view text);

}  // namespace hearth::feed
