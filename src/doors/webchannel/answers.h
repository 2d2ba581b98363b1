// The HTTP answers of a channel.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/exchange.h"
#include "http/plain.h"

namespace hearth::doors::webchannel {

inline constexpr std::string_view kChannelContentType = "text/plain; charset=utf-8";

// The headers of every answer to a channel's request, besides its length and type.
std::vector<std::pair<std::string, std::string>> ChannelHeaders(const http::RequestHead& head);

http::PlainAnswer ChannelAnswer(const http::RequestHead& head, std::string body);

// An HTTP error, which makes the client abandon the channel.
http::PlainAnswer RefusedAnswer(const http::RequestHead& head, int status, std::string_view why);

// The session is gone: the client creates a new one immediately instead of retrying.
http::PlainAnswer UnknownSessionAnswer(const http::RequestHead& head);

}  // namespace hearth::doors::webchannel
