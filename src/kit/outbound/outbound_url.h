#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::kit {

// A URL that may be asked for: http or https, with a host, without a user or password.
struct OutboundUrl {
  std::string text;
  std::string host_port;  // "news.example:443", in lower case; the port is always there.
  std::string scheme;     // "http" or "https".

  bool SameOrigin(const OutboundUrl& other) const {
    return scheme == other.scheme && host_port == other.host_port;
  }
};

inline constexpr size_t kUrlBytesMax = 8 * 1024;

// InvalidArgument that says what is wrong with it.
Result<OutboundUrl> ParseOutboundUrl(const std::string& text);
// Where "Location: `location`" leads from `base`.
Result<OutboundUrl> ResolveOutboundUrl(const OutboundUrl& base, const std::string& location);

}  // namespace hearth::kit
