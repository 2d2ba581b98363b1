#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/memory_budget.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "http/exchange.h"
#include "kit/web/lane.h"
#include "kit/web/routes.h"

namespace hearth::kit {

struct AppServiceOptions {
  std::string name;         // In metrics and logs: "hackernews".
  std::string prefix = {};  // "/apps/hackernews"; "" if the application has the port to itself.
  size_t body_bytes_max = 1024 * 1024;  // For routes without their own limit.
  // Over all request bodies that are being received or processed. The per-connection budget does
  // not suffice, since a client may open many connections. Bytes beyond this get 503. A client (see
  // Lane::Client) may have as many bytes as are free; beyond that it gets 429.
  size_t all_bodies_bytes_max = 256 * 1024 * 1024;
  // For the handlers of pages (Work::kPage).
  size_t threads = 8;
  // Requests waiting for a thread; the next one gets 503. A client may have as many waiting as
  // places are free; its next one gets 429.
  size_t queued_requests_max = 256;
  LaneOptions sign_ins = LaneOptions::Of(SignInThreads(), 64);
  LaneOptions uploads = LaneOptions::Of(4, 32);
  std::chrono::milliseconds event_keep_alive = std::chrono::seconds(15);
  MemoryBudget* memory = nullptr;  // For bodies that wait for a handler. May be null.

  // Half of the cores, so that pages are computed meanwhile, but at least two: the sign-ins of one
  // client use one thread less than there are.
  static size_t SignInThreads();
};

// Serves an application's routes below a path.
//
// Files of the page are served on the loop. Handlers run on the service's own threads, so that a
// slow application slows down only itself. Expensive kinds of work have their own threads, and
// clients take turns (lane.h), so that a client slows down only itself. Cross-site requests are
// refused, because the applications identify users by cookies. That check compares the origin with
// the host that the client named; that the name is one of this server's is checked by http::Server.
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
  class RouteMeter;

  // Answers requests that need no handler; false if one is needed.
  bool AnswerAtOnce(http::Exchange& exchange, const Routes::Found& found, std::string_view path);
  // Of a route, of all files, or of all requests without a route.
  RouteMeter& MeterOf(const Routes::Found& found);
  Lane& LaneOf(Work work) { return *lanes_[static_cast<size_t>(work)]; }

  enum class Taken : uint8_t { kYes, kFull, kShareUsed };
  [[nodiscard]] Taken TakeBodyBytes(const std::string& group, size_t bytes)
      EXCLUDES_LOCK(bodies_mutex_);
  void ReturnBodyBytes(const std::string& group, size_t bytes) EXCLUDES_LOCK(bodies_mutex_);

  const AppServiceOptions options_;
  const Routes& routes_;
  const Clock& clock_;
  Metrics& metrics_;
  // Made with the first request, when all routes are known: by number, then files, then others.
  std::once_flag meters_made_;
  std::vector<std::unique_ptr<RouteMeter>> meters_;
  Mutex bodies_mutex_;  // Leaf lock.
  size_t body_bytes_ GUARDED_BY(bodies_mutex_) = 0;
  // Without groups that have none.
  std::unordered_map<std::string, size_t> group_body_bytes_ GUARDED_BY(bodies_mutex_);
  std::array<std::unique_ptr<Lane>, kWorkKinds> lanes_;
  MetricCallback queued_gauge_;
};

}  // namespace hearth::kit
