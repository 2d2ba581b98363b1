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
  std::string prefix = {};  // "/apps/hackernews"; "" for one that has the port to itself.
  size_t body_bytes_max = 1024 * 1024;  // Of routes that name no other limit.
  // Of all bodies that are being received or worked on, whoever sent them: a connection's budget
  // bounds what one connection holds, and a client may have many. The next byte gets 503.
  size_t all_bodies_bytes_max = 256 * 1024 * 1024;
  size_t threads = 8;
  // Requests that wait for a thread; the next one gets 503.
  size_t queued_requests_max = 256;
  std::chrono::milliseconds event_keep_alive = std::chrono::seconds(15);
};

// Serves the routes of an application below a path.
//
// Files of the page are answered on the loop, handlers run on threads of the service's own, so that
// an application that is slow is slow alone. Requests by which a page of another site would act in
// a user's name are refused: the applications know their users by cookies.
//
// Threads: as Service says. The destructor waits for the handlers under way: to be destroyed after
// the server is drained, and before the application. Ownership: borrows the routes, the clock and
// the metrics.
class AppService final : public http::Service {
 public:
  AppService(AppServiceOptions options, const Routes& routes, const Clock& clock, Metrics& metrics);
  ~AppService() override;

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override;

 private:
  class Call;

  // Counts one answer. `route` and `method` are of the application's choosing, never the client's.
  void Count(std::string_view method, std::string_view route, int status,
             std::chrono::steady_clock::time_point started) const;
  // Answers what needs no handler; false where one is needed.
  bool AnswerAtOnce(http::Exchange& exchange, const Routes::Found& found, std::string_view path);

  [[nodiscard]] bool TakeBodyBytes(size_t bytes);

  const AppServiceOptions options_;
  const Routes& routes_;
  const Clock& clock_;
  Metrics& metrics_;
  std::atomic<size_t> body_bytes_ = 0;  // Of all calls; only their sum matters.
  ThreadPool threads_;
};

}  // namespace hearth::kit
