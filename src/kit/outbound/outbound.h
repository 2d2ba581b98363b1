#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/status.h"
#include "kit/jobs/circuit_breaker.h"

namespace hearth::kit {

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
};

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case.
  std::string body;
  std::string url;  // After redirects.

  std::optional<std::string_view> Header(std::string_view lower_case_name) const;
};

// How to talk to one outside service.
struct OutboundOptions {
  std::string name;  // For metrics and errors: "hn".
  std::string user_agent = "Hearth/1.0";
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  // Per attempt, including the body.
  size_t response_bytes_max = 10 * 1024 * 1024;
  size_t redirects_max = 0;  // A redirect beyond this is returned as the response.
  size_t attempts_max = 3;   // For GET and HEAD, after transient failures.
  std::chrono::milliseconds backoff = std::chrono::milliseconds(250);  // Doubles; jitter of half.
  std::chrono::milliseconds backoff_max = std::chrono::seconds(30);    // Also bounds Retry-After.
  size_t concurrent_max = 20;
  double requests_per_second = 0;  // 0: no limit. Bursts of up to a second's worth.
  // The breaker opens after this many failures in a row, refuses for a while, then lets one request
  // probe.
  size_t breaker_failures = 5;
  std::chrono::milliseconds breaker_open = std::chrono::seconds(30);
  // Loopback, private, link-local and other special addresses are refused, also after name
  // resolution and on redirects, unless the URL's "host:port" is listed here.
  std::vector<std::string> private_hosts_allowed = {};
};

// Outbound HTTP to one service.
//
// Threads: safe for concurrent use; calls block. Ownership: borrows the constructor's arguments.
// Errors: Unavailable (cannot be reached, breaker open), DeadlineExceeded, ResourceExhausted
// (response too large), PermissionDenied (address not allowed), InvalidArgument (URL), Cancelled
// (stopped). For Send a response with any status is a success; FetchJson fails unless it is 2xx.
class Outbound {
 public:
  Outbound(OutboundOptions options, const Clock& clock, RandomSource& random, Metrics& metrics);
  ~Outbound();

  Result<HttpResponse> Send(const HttpRequest& request);
  // GET, expecting 2xx and JSON. DataLoss if the response is not JSON; NotFound for 404;
  // Unavailable for other statuses. The messages name the service, not the URL, which may contain a
  // secret.
  Result<nlohmann::json> FetchJson(const std::string& url);
  // The results in the order of the URLs, `concurrent_max` at a time; each as from FetchJson.
  std::vector<Result<nlohmann::json>> FetchAllJson(const std::vector<std::string>& urls);

  using BreakerState = CircuitBreaker::State;
  BreakerState breaker_state() const;
  // Running and later calls end with Cancelled, soon.
  void Stop();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace hearth::kit
