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

// What every answer to a channel's request says besides its length and type.
std::vector<std::pair<std::string, std::string>> ChannelHeaders(const http::RequestHead& head);

http::PlainAnswer ChannelAnswer(const http::RequestHead& head, std::string body);

// An error of HTTP, which makes the client give the channel up.
http::PlainAnswer RefusedAnswer(const http::RequestHead& head, int status, std::string_view why);

// The session is gone: the client makes a new one at once instead of asking again.
http::PlainAnswer UnknownSessionAnswer(const http::RequestHead& head);

}  // namespace hearth::doors::webchannel
