#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::kit {

// A URL that may be requested: http or https, with a host, without a user or password.
struct OutboundUrl {
  std::string text;
  std::string host_port;  // "news.example:443", in lower case; always has a port.
  std::string scheme;     // "http" or "https".

  bool SameOrigin(const OutboundUrl& other) const {
    return scheme == other.scheme && host_port == other.host_port;
  }
};

inline constexpr size_t kUrlBytesMax = 8 * 1024;

// InvalidArgument describes what is wrong.
Result<OutboundUrl> ParseOutboundUrl(const std::string& text);
// "news.example:443" of a URL, as OutboundOptions::private_hosts_allowed takes it; "" if invalid.
std::string HostPortOf(const std::string& url);
// The target of "Location: `location`" relative to `base`.
Result<OutboundUrl> ResolveOutboundUrl(const OutboundUrl& base, const std::string& location);

}  // namespace hearth::kit
