// Private to this folder: refuses the requests of strangers.
#pragma once

#include <memory>

#include "base/metrics.h"
#include "http/exchange.h"
#include "http/origin_policy.h"

namespace hearth::http {

// Forwards the requests that `policy` admits to `service`, and answers the others with 403: without
// CORS headers, so that a page cannot read the answer, and for preflight requests too. It answers
// "OPTIONS *" itself: every path that a service sees begins with a slash.
//
// Threads: as Service says. Ownership: borrows what it is given.
class OriginGuard final : public Service {
 public:
  OriginGuard(const OriginPolicy& policy, Service& service, Metrics& metrics);

  std::shared_ptr<ExchangeHandler> Open(Exchange& exchange) override;

 private:
  const OriginPolicy& policy_;
  Service& service_;
  Counter& refused_;
};

}  // namespace hearth::http
