#include "doors/webchannel/answers.h"

#include "http/cors.h"

namespace hearth::doors::webchannel {

std::vector<std::pair<std::string, std::string>> ChannelHeaders(const http::RequestHead& head) {
  std::vector<std::pair<std::string, std::string>> headers = {
      {"cache-control", "no-store"}, {"x-content-type-options", "nosniff"}};
  http::AppendCorsHeaders(head, &headers);
  return headers;
}

http::PlainAnswer ChannelAnswer(const http::RequestHead& head, std::string body) {
  return {.content_type = std::string(kChannelContentType),
          .body = std::move(body),
          .more_headers = ChannelHeaders(head)};
}

http::PlainAnswer RefusedAnswer(const http::RequestHead& head, int status, std::string_view why) {
  http::PlainAnswer answer = ChannelAnswer(head, "Error: " + std::string(why) + "\n");
  answer.status = status;
  return answer;
}

http::PlainAnswer UnknownSessionAnswer(const http::RequestHead& head) {
  // Clients search for these words after the first character.
  return RefusedAnswer(head, 400, "Unknown SID");
}

}  // namespace hearth::doors::webchannel
