#include "apps/feed/redis/redis_address.h"

#include <charconv>
#include <system_error>

#include "base/status_macros.h"

namespace hearth::feed {

Result<RedisAddress> ParseRedisAddress(std::string_view text) {
  const std::string quoted = "\"" + std::string(text) + "\"";
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return InvalidArgument(quoted + " has no port: HOST:PORT");
  const std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.empty()) return InvalidArgument(quoted + " has no host: HOST:PORT");
  if (host.find_first_of(" \t\r\n/@") != std::string_view::npos) {
    return InvalidArgument(quoted + " is not of the form HOST:PORT");
  }
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number == 0) {
    return InvalidArgument(quoted + ": the port must be a number from 1 to 65535");
  }
  return RedisAddress{std::string(host), number};
}

Result<std::vector<RedisAddress>> ParseRedisAddresses(std::string_view text) {
  std::vector<RedisAddress> addresses;
  while (true) {
    const size_t comma = text.find(',');
    ASSIGN_OR_RETURN(RedisAddress address, ParseRedisAddress(text.substr(0, comma)));
    addresses.push_back(std::move(address));
    if (comma == std::string_view::npos) return addresses;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace hearth::feed
