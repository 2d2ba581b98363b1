#include "http/origin_guard.h"

#include <string>
#include <utility>

#include "http/percent.h"
#include "http/plain.h"

namespace hearth::http {
namespace {

constexpr int kForbidden = 403;
constexpr const char* kServerMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

// Google's JSON. The message repeats text of the request, so it is escaped.
std::string ErrorJson(std::string_view message) {
  std::string escaped;
  for (const char c : message) {
    const bool is_plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    escaped += is_plain ? c : '?';
  }
  return "{\"error\":{\"code\":403,\"message\":\"" + escaped +
         "\",\"status\":\"PERMISSION_DENIED\"}}\n";
}

PlainAnswer Refusal(const RequestHead& head, const Status& status) {
  PlainAnswer answer{
      .status = kForbidden,
      .content_type = "application/json; charset=utf-8",
      .body = ErrorJson(status.message()),
      .more_headers = {{"cache-control", "no-store"}, {"x-content-type-options", "nosniff"}}};
  // Otherwise clients of gRPC would show the number 403 and not the message.
  if (head.Find("content-type").value_or("").starts_with("application/grpc")) {
    answer.more_headers.emplace_back("grpc-status",
                                     std::to_string(static_cast<int>(status.code())));
    answer.more_headers.emplace_back("grpc-message", EncodePercent(status.message()));
  }
  return answer;
}

}  // namespace

OriginGuard::OriginGuard(const OriginPolicy& policy, Service& service, Metrics& metrics)
    : policy_(policy),
      service_(service),
      refused_(metrics.GetCounter("hearth_http_refused_requests_total",
                                  "Requests for an unknown host, or of an unknown web page.")) {}

std::shared_ptr<ExchangeHandler> OriginGuard::Open(Exchange& exchange) {
  const Status status = policy_.Check(exchange.head());
  if (status.ok() && exchange.head().target() != "*") return service_.Open(exchange);
  if (status.ok()) {
    AnswerPlain(exchange, {.body = "", .more_headers = {{"allow", kServerMethods}}});
  } else {
    refused_.Add();
    AnswerPlain(exchange, Refusal(exchange.head(), status));
  }
  return nullptr;
}

}  // namespace hearth::http
