#include "http/counting_service.h"

#include <string>

namespace hearth::http {
namespace {

Counter& RequestCounter(Metrics& metrics, const std::string& protocol) {
  return metrics.GetCounter("hearth_http_requests_total",
                            "Requests by protocol; gRPC-Web counts as gRPC.",
                            {{"protocol", protocol}});
}

}  // namespace

CountingService::CountingService(Service& service, Metrics& metrics)
    : service_(service),
      http1_(RequestCounter(metrics, "http1")),
      http2_(RequestCounter(metrics, "http2")),
      grpc_(RequestCounter(metrics, "grpc")) {}

std::shared_ptr<ExchangeHandler> CountingService::Open(Exchange& exchange) {
  const RequestHead& head = exchange.head();
  if (head.Find("content-type").value_or("").starts_with("application/grpc")) {
    grpc_.Add();
  } else {
    (head.version() == HttpVersion::kHttp2 ? http2_ : http1_).Add();
  }
  return service_.Open(exchange);
}

}  // namespace hearth::http
