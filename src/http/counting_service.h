// Private to this folder: counts the requests that a server receives.
#pragma once

#include <memory>

#include "base/metrics.h"
#include "http/exchange.h"

namespace hearth::http {

// Counts every request by protocol and forwards it to `service`.
//
// Threads: as Service says. Ownership: borrows what it is given.
class CountingService final : public Service {
 public:
  CountingService(Service& service, Metrics& metrics);

  std::shared_ptr<ExchangeHandler> Open(Exchange& exchange) override;

 private:
  Service& service_;
  Counter& http1_;
  Counter& http2_;
  Counter& grpc_;
};

}  // namespace hearth::http
