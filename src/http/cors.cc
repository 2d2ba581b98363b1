#include "http/cors.h"

#include <optional>
#include <string_view>

namespace hearth::http {
namespace {

// A wildcard is not valid for requests with credentials, so the names are listed one by one.
constexpr const char* kExposedHeaders =
    "content-length, date, x-http-session-id, x-http-initial-response, grpc-status, grpc-message";
constexpr const char* kMethods = "GET, POST, PATCH, PUT, DELETE, HEAD, OPTIONS";
constexpr const char* kMaxAgeSeconds = "3600";

}  // namespace

void AppendCorsHeaders(const RequestHead& head,
                       std::vector<std::pair<std::string, std::string>>* headers) {
  const std::optional<std::string_view> origin = head.Find("origin");
  if (!origin) return;
  // The origin and not a wildcard: browsers reject the wildcard for requests with credentials.
  headers->emplace_back("access-control-allow-origin", *origin);
  headers->emplace_back("access-control-allow-credentials", "true");
  headers->emplace_back("access-control-expose-headers", kExposedHeaders);
  headers->emplace_back("vary", "origin");
}

PlainAnswer PreflightAnswer(const RequestHead& head) {
  PlainAnswer answer;
  AppendCorsHeaders(head, &answer.more_headers);
  if (answer.more_headers.empty()) return answer;
  answer.more_headers.emplace_back("access-control-allow-methods", kMethods);
  if (const auto names = head.Find("access-control-request-headers")) {
    answer.more_headers.emplace_back("access-control-allow-headers", *names);
  }
  if (head.Find("access-control-request-private-network") == "true") {
    answer.more_headers.emplace_back("access-control-allow-private-network", "true");
  }
  answer.more_headers.emplace_back("access-control-max-age", kMaxAgeSeconds);
  return answer;
}

}  // namespace hearth::http
