#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/exchange.h"
#include "kit/web/assets.h"
#include "kit/web/response.h"

namespace hearth::kit {

// Responses of at least this size are compressed if the client accepts it.
inline constexpr size_t kCompressedBytesMin = 1'024;

// What a request's head says about the form of the response.
struct AnswerWishes {
  explicit AnswerWishes(const http::RequestHead& head);

  bool is_read = false;  // GET or HEAD.
  bool takes_gzip = false;
  std::string if_none_match;
};

// A response ready to send: security and caching headers added, 304 if the client already has it,
// compressed if that helps. Compression takes milliseconds: do not call on a loop.
struct PreparedAnswer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};

  // `response` has no events. One that is not valid HTTP becomes a bare 500.
  static PreparedAnswer Of(Response response, const AnswerWishes& wishes);
  static PreparedAnswer Of(const Asset& asset, const AnswerWishes& wishes);

  // The whole response; a HEAD request gets no body.
  void SendTo(http::Exchange& exchange) &&;
};

// The head of a stream of events.
void SendEventStreamHead(http::Exchange& exchange);

}  // namespace hearth::kit
