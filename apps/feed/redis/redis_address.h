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

// "host:port". Split at the last colon, so that IPv6 addresses need no brackets.
Result<RedisAddress> ParseRedisAddress(std::string_view text);
// "host:port[,host:port...]": one server, or nodes of a cluster. InvalidArgument names the invalid
// part.
Result<std::vector<RedisAddress>> ParseRedisAddresses(std::string_view text);

}  // namespace hearth::feed
