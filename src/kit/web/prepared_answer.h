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

// Answers of at least this size are compressed, where the client takes that.
inline constexpr size_t kCompressedBytesMin = 1'024;

// What a request's head says about the form of its answer.
struct AnswerWishes {
  explicit AnswerWishes(const http::RequestHead& head);

  bool is_read = false;  // GET or HEAD.
  bool takes_gzip = false;
  std::string if_none_match;
};

// An answer as it goes out: headers of security and caching added, 304 where the client has it
// already, compressed where that helps. Compressing takes milliseconds: not for a loop.
struct PreparedAnswer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};

  // `response` has no events. One that cannot be said in HTTP becomes a bare 500.
  static PreparedAnswer Of(Response response, const AnswerWishes& wishes);
  static PreparedAnswer Of(const Asset& asset, const AnswerWishes& wishes);

  // The whole answer; a client that asked with HEAD gets what it asked for.
  void SendTo(http::Exchange& exchange) &&;
};

// The head of a stream of events.
void SendEventStreamHead(http::Exchange& exchange);

}  // namespace hearth::kit
