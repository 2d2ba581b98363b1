#include "kit/outbound/outbound.h"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <set>
#include <thread>

#include "base/mutex.h"
#include "base/status_macros.h"
#include "kit/jobs/rate_limiter.h"
#include "kit/outbound/http_transfer.h"
#include "kit/outbound/outbound_url.h"

namespace hearth::kit {
namespace {

using std::chrono::milliseconds;
using TimePoint = std::chrono::steady_clock::time_point;

// A fake clock advances without waking waiters, so it is polled.
constexpr milliseconds kClockPollInterval{20};

constexpr int kFetchedJsonDepthMax = 100;  // Nesting of arrays and objects.

const std::vector<double> kSecondsBounds = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

Status CheckRequest(const HttpRequest& request) {
  if (!IsToken(request.method)) return InvalidArgument("HTTP method: not a valid name");
  for (const auto& [name, value] : request.headers) {
    if (!IsToken(name)) return InvalidArgument("HTTP header: not a valid name");
    const bool is_safe = std::ranges::none_of(value, [](char c) {
      return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f;
    });
    if (!is_safe) {
      return InvalidArgument("HTTP header \"" + name + "\": holds a control character");
    }
  }
  return Status();
}

bool IsSafeMethod(const std::string& method) { return method == "GET" || method == "HEAD"; }

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool IsFailure(int status) { return status == 429 || status >= 500; }

CircuitBreaker::Outcome OutcomeOf(const Result<HttpResponse>& result) {
  if (result.ok()) {
    return IsFailure(result->status) ? CircuitBreaker::Outcome::kFailure
                                     : CircuitBreaker::Outcome::kSuccess;
  }
  switch (result.status().code()) {
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
      return CircuitBreaker::Outcome::kFailure;
    case Code::kResourceExhausted:  // It answers, though too much.
      return CircuitBreaker::Outcome::kSuccess;
    default:
      return CircuitBreaker::Outcome::kNeither;
  }
}

// The value of "Retry-After": seconds, or a date.
std::optional<milliseconds> RetryAfter(const Result<HttpResponse>& result, const Clock& clock) {
  if (!result.ok()) return std::nullopt;
  const std::optional<std::string_view> text = result->Header("retry-after");
  if (!text) return std::nullopt;
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error == std::errc::result_out_of_range) return milliseconds::max();
  if (error == std::errc() && end == text->data() + text->size()) {
    if (seconds < 0) return std::nullopt;
    // The caller caps it; this keeps the multiplication in range.
    return milliseconds(std::min<int64_t>(seconds, 1'000'000'000) * 1'000);
  }
  const time_t date = curl_getdate(std::string(*text).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  return milliseconds(std::max<int64_t>(0, date * 1'000 - clock.WallMicros() / 1'000));
}

// Removes headers that are meant for one origin only.
void DropCredentials(HttpRequest& request) {
  std::erase_if(request.headers, [](const auto& header) {
    std::string name = header.first;
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name == "authorization" || name == "cookie" || name == "proxy-authorization" ||
           name == "host";
  });
}

// Turns `request` into the one that the redirect asks for.
void ApplyRedirect(int status, HttpRequest& request) {
  const bool becomes_get = (status == 303 && request.method != "HEAD") ||
                           ((status == 301 || status == 302) && request.method == "POST");
  if (!becomes_get) return;
  request.method = "GET";
  request.body.clear();
  std::erase_if(request.headers, [](const auto& header) {
    return header.first.size() > 8 && strncasecmp(header.first.c_str(), "content-", 8) == 0;
  });
}

}  // namespace

std::optional<std::string_view> HttpResponse::Header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_case_name) return value;
  }
  return std::nullopt;
}

struct Outbound::State {
  State(OutboundOptions the_options, const Clock& the_clock, RandomSource& the_random,
        Metrics& metrics)
      : options(std::move(the_options)),
        limits{.connect_timeout = options.connect_timeout,
               .timeout = options.timeout,
               .response_bytes_max = options.response_bytes_max,
               .user_agent = options.user_agent},
        clock(the_clock),
        random(the_random),
        breaker(clock, options.breaker_failures, options.breaker_open),
        rate(clock, options.requests_per_second),
        requests(metrics.GetCounter("hearth_outbound_requests_total",
                                    "Requests sent to outside services, retries included.",
                                    {{"service", options.name}})),
        failures(
            metrics.GetCounter("hearth_outbound_failures_total",
                               "Requests to outside services that failed: no answer, 429, 5xx.",
                               {{"service", options.name}})),
        retries(metrics.GetCounter("hearth_outbound_retries_total",
                                   "Requests to outside services that were sent again.",
                                   {{"service", options.name}})),
        breaker_gauge(metrics.GetGauge(
            "hearth_outbound_breaker_state",
            "0: closed; 1: open, nothing is sent; 2: half-open, one request may try.",
            {{"service", options.name}})),
        seconds(metrics.GetHistogram("hearth_outbound_seconds",
                                     "How long requests to outside services took.", kSecondsBounds,
                                     {{"service", options.name}})) {}

  // Both return false when stopped.
  bool AcquireSlot() EXCLUDES_LOCK(mutex);
  bool WaitUntil(TimePoint when) EXCLUDES_LOCK(mutex);
  void ReleaseSlot() EXCLUDES_LOCK(mutex);
  Status Stopped() const { return Status(Code::kCancelled, options.name + ": stopped"); }

  // nullopt: the breaker is open.
  std::optional<Result<HttpResponse>> Attempt(const HttpRequest& request, const OutboundUrl& url);
  Result<HttpResponse> Follow(HttpRequest request, OutboundUrl url);
  Result<HttpResponse> Transfer(const HttpRequest& request, const OutboundUrl& url)
      EXCLUDES_LOCK(mutex);
  milliseconds Backoff(size_t attempt, const Result<HttpResponse>& result);

  const OutboundOptions options;
  const TransferLimits limits;
  const Clock& clock;
  RandomSource& random;
  CircuitBreaker breaker;
  RateLimiter rate;
  Counter& requests;
  Counter& failures;
  Counter& retries;
  Gauge& breaker_gauge;
  Histogram& seconds;

  std::atomic<bool> stopping = false;
  Mutex mutex;  // Leaf lock.
  CondVar changed;
  size_t slots_taken GUARDED_BY(mutex) = 0;
  std::vector<std::unique_ptr<HttpTransfer>> idle GUARDED_BY(mutex);
  std::set<HttpTransfer*> active GUARDED_BY(mutex);
};

bool Outbound::State::AcquireSlot() {
  MutexLock lock(mutex);
  const size_t slots = std::max<size_t>(1, options.concurrent_max);
  while (!stopping && slots_taken >= slots) changed.Wait(mutex);
  if (stopping) return false;
  ++slots_taken;
  return true;
}

void Outbound::State::ReleaseSlot() {
  MutexLock lock(mutex);
  --slots_taken;
  changed.NotifyAll();
}

bool Outbound::State::WaitUntil(TimePoint when) {
  MutexLock lock(mutex);
  for (TimePoint now = clock.Monotonic(); !stopping && now < when; now = clock.Monotonic()) {
    changed.WaitFor(mutex,
                    std::min(std::chrono::ceil<milliseconds>(when - now), kClockPollInterval));
  }
  return !stopping;
}

Result<HttpResponse> Outbound::State::Transfer(const HttpRequest& request, const OutboundUrl& url) {
  std::unique_ptr<HttpTransfer> transfer;
  {
    MutexLock lock(mutex);
    if (stopping) return Stopped();
    if (!idle.empty()) {
      transfer = std::move(idle.back());
      idle.pop_back();
    } else {
      transfer = std::make_unique<HttpTransfer>();
    }
    active.insert(transfer.get());
  }
  const bool is_allowed = std::ranges::find(options.private_hosts_allowed, url.host_port) !=
                          options.private_hosts_allowed.end();
  Result<HttpResponse> result = transfer->Perform(
      request, url, is_allowed ? PrivateAddresses::kAllowed : PrivateAddresses::kRefused, limits,
      stopping);
  MutexLock lock(mutex);
  active.erase(transfer.get());
  idle.push_back(std::move(transfer));
  return result;
}

Result<HttpResponse> Outbound::State::Follow(HttpRequest request, OutboundUrl url) {
  for (size_t redirects = 0;; ++redirects) {
    if (!WaitUntil(rate.Take())) return Stopped();
    ASSIGN_OR_RETURN(HttpResponse response, Transfer(request, url));
    const std::optional<std::string_view> location = response.Header("location");
    if (redirects == options.redirects_max || !IsRedirect(response.status) || !location) {
      return response;
    }
    ASSIGN_OR_RETURN(OutboundUrl next, ResolveOutboundUrl(url, std::string(*location)));
    if (!next.SameOrigin(url)) DropCredentials(request);
    ApplyRedirect(response.status, request);
    url = std::move(next);
  }
}

std::optional<Result<HttpResponse>> Outbound::State::Attempt(const HttpRequest& request,
                                                             const OutboundUrl& url) {
  if (!AcquireSlot()) return Result<HttpResponse>(Stopped());
  const std::optional<CircuitBreaker::Ticket> ticket = breaker.Enter();
  if (!ticket) {
    ReleaseSlot();
    return std::nullopt;
  }
  requests.Add();
  const TimePoint began = clock.Monotonic();
  Result<HttpResponse> result = Follow(request, url);
  ReleaseSlot();
  seconds.Observe(std::chrono::duration<double>(clock.Monotonic() - began).count());
  const CircuitBreaker::Outcome outcome = OutcomeOf(result);
  breaker.Leave(*ticket, outcome);
  if (outcome == CircuitBreaker::Outcome::kFailure) failures.Add();
  breaker_gauge.Set(static_cast<double>(breaker.state()));
  return result;
}

milliseconds Outbound::State::Backoff(size_t attempt, const Result<HttpResponse>& result) {
  if (const std::optional<milliseconds> asked = RetryAfter(result, clock)) {
    return std::min(*asked, options.backoff_max);
  }
  const double doubled =
      static_cast<double>(options.backoff.count()) * std::exp2(static_cast<double>(attempt) - 1);
  const double whole = std::min(doubled, static_cast<double>(options.backoff_max.count()));
  const double share = static_cast<double>(random.Next() % 1'001) / 1'000;
  return milliseconds(std::llround(whole * (0.5 + 0.5 * share)));
}

Outbound::Outbound(OutboundOptions options, const Clock& clock, RandomSource& random,
                   Metrics& metrics)
    : state_(std::make_unique<State>(std::move(options), clock, random, metrics)) {}

Outbound::~Outbound() { Stop(); }

Result<HttpResponse> Outbound::Send(const HttpRequest& request) {
  RETURN_IF_ERROR(CheckRequest(request));
  ASSIGN_OR_RETURN(const OutboundUrl url, ParseOutboundUrl(request.url));
  const size_t attempts_max =
      IsSafeMethod(request.method) ? std::max<size_t>(1, state_->options.attempts_max) : 1;
  std::optional<Result<HttpResponse>> last;
  for (size_t attempt = 1;; ++attempt) {
    std::optional<Result<HttpResponse>> result = state_->Attempt(request, url);
    if (!result) {
      // The last answer says more than that the breaker is open.
      if (last) return *std::move(last);
      return Status(Code::kUnavailable,
                    state_->options.name + ": failed too often; not called for a while");
    }
    last = std::move(result);
    if (attempt >= attempts_max || OutcomeOf(*last) != CircuitBreaker::Outcome::kFailure) {
      return *std::move(last);
    }
    const milliseconds pause = state_->Backoff(attempt, *last);
    if (!state_->WaitUntil(state_->clock.Monotonic() + pause)) return state_->Stopped();
    state_->retries.Add();
  }
}

Result<nlohmann::json> Outbound::FetchJson(const std::string& url) {
  const std::string& name = state_->options.name;
  ASSIGN_OR_RETURN(const HttpResponse response,
                   Send({.url = url, .headers = {{"Accept", "application/json"}}}));
  if (response.status == 404) return Status(Code::kNotFound, name + ": not found");
  if (response.status < 200 || response.status > 299) {
    return Status(Code::kUnavailable, name + ": answered " + std::to_string(response.status));
  }
  // Code that walks the result is recursive: the service must not choose the depth.
  bool is_too_deep = false;
  const auto check_depth = [&is_too_deep](int depth, nlohmann::json::parse_event_t event,
                                          const nlohmann::json&) {
    const bool begins = event == nlohmann::json::parse_event_t::object_start ||
                        event == nlohmann::json::parse_event_t::array_start;
    is_too_deep |= begins && depth >= kFetchedJsonDepthMax;  // The outermost is at 0.
    return !is_too_deep;
  };
  nlohmann::json json =
      nlohmann::json::parse(response.body, check_depth, /*allow_exceptions=*/false);
  if (is_too_deep) return Status(Code::kDataLoss, name + ": the answer is nested too deep");
  if (json.is_discarded()) return Status(Code::kDataLoss, name + ": the response is not JSON");
  return json;
}

std::vector<Result<nlohmann::json>> Outbound::FetchAllJson(const std::vector<std::string>& urls) {
  std::vector<Result<nlohmann::json>> results(urls.size(), Result<nlohmann::json>(Status()));
  std::atomic<size_t> next = 0;
  const auto work = [this, &urls, &results, &next] {
    for (size_t i = next++; i < urls.size(); i = next++) results[i] = FetchJson(urls[i]);
  };
  std::vector<std::thread> others;
  const size_t threads = std::min(urls.size(), std::max<size_t>(1, state_->options.concurrent_max));
  for (size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  return results;
}

Outbound::BreakerState Outbound::breaker_state() const { return state_->breaker.state(); }

void Outbound::Stop() {
  MutexLock lock(state_->mutex);
  state_->stopping = true;
  state_->changed.NotifyAll();
  for (HttpTransfer* transfer : state_->active) transfer->Wake();
}

}  // namespace hearth::kit
