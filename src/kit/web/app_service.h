#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/thread_pool.h"
#include "http/exchange.h"
#include "kit/web/routes.h"

namespace hearth::kit {

struct AppServiceOptions {
  std::string name;         // In metrics and logs: "hackernews".
  std::string prefix = {};  // "/apps/hackernews"; "" if the application has the port to itself.
  size_t body_bytes_max = 1024 * 1024;  // For routes without their own limit.
  // Over all request bodies that are being received or processed. The per-connection budget does
  // not suffice, since a client may open many connections. Bytes beyond this get 503.
  size_t all_bodies_bytes_max = 256 * 1024 * 1024;
  size_t threads = 8;
  // Requests waiting for a thread; the next one gets 503.
  size_t queued_requests_max = 256;
  std::chrono::milliseconds event_keep_alive = std::chrono::seconds(15);
};

// Serves an application's routes below a path.
//
// Files of the page are served on the loop. Handlers run on the service's own threads, so that a
// slow application slows down only itself. Cross-site requests are refused, because the
// applications identify users by cookies.
//
// Threads: as for Service. The destructor waits for running handlers: destroy it after the server
// is drained and before the application. Ownership: borrows the routes, the clock and the metrics.
class AppService final : public http::Service {
 public:
  AppService(AppServiceOptions options, const Routes& routes, const Clock& clock, Metrics& metrics);
  ~AppService() override;

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override;

 private:
  class Call;

  // Counts one response. `route` and `method` come from the application, never from the client.
  void Count(std::string_view method, std::string_view route, int status,
             std::chrono::steady_clock::time_point started) const;
  // Answers requests that need no handler; false if one is needed.
  bool AnswerAtOnce(http::Exchange& exchange, const Routes::Found& found, std::string_view path);

  [[nodiscard]] bool TakeBodyBytes(size_t bytes);

  const AppServiceOptions options_;
  const Routes& routes_;
  const Clock& clock_;
  Metrics& metrics_;
  std::atomic<size_t> body_bytes_ = 0;  // Over all calls; only the sum matters.
  ThreadPool threads_;
};

}  // namespace hearth::kit
