#include "doors/rest/answers.h"

#include "base/http_status.h"
#include "http/cors.h"

namespace hearth::doors::rest {

std::vector<std::pair<std::string, std::string>> CommonHeaders(const http::RequestHead& head) {
  std::vector<std::pair<std::string, std::string>> headers = {
      {"cache-control", "private, no-store"}, {"x-content-type-options", "nosniff"}};
  http::AppendCorsHeaders(head, &headers);
  return headers;
}

http::PlainAnswer ErrorAnswer(const http::RequestHead& head, const Status& status,
                              wire::JsonLayout layout, int http_status) {
  if (http_status == 0) http_status = HttpStatusOf(status.code());
  return {.status = http_status,
          .content_type = kJsonType,
          .body = wire::JsonFromError(http_status, status, layout) + "\n",
          .more_headers = CommonHeaders(head)};
}

}  // namespace hearth::doors::rest
