// Private to this folder: counts the requests that a server takes.
#pragma once

#include <memory>

#include "base/metrics.h"
#include "http/exchange.h"

namespace hearth::http {

// Hands every request on to `service`, after it was counted by protocol.
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
