#include "kit/web/app_service.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "http/event_loop.h"
#include "kit/web/event_stream.h"
#include "kit/web/negotiation.h"
#include "kit/web/prepared_answer.h"

namespace hearth::kit {
namespace {

const std::vector<double>& LatencyBounds() {
  static const std::vector<double> bounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                             0.1,   0.25,   0.5,   1,    2.5,   10};
  return bounds;
}

constexpr const char* kWorkNames[kWorkKinds] = {"page", "sign_in", "upload"};

bool ChangesSomething(std::string_view method) {
  return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

// 0 if it is not a number.
uint64_t ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end ? number : 0;
}

}  // namespace

// The metrics of one route, looked up once.
//
// Threads: safe for concurrent use. Ownership: borrows the metrics.
class AppService::RouteMeter {
 public:
  // `route` and `method` come from the application, never from the client.
  RouteMeter(Metrics& metrics, std::string_view app, std::string_view method,
             std::string_view route)
      : metrics_(metrics),
        labels_({{"app", std::string(app)},
                 {"method", std::string(method)},
                 {"route", std::string(route)}}) {}

  // Counts one response.
  void Count(int status, std::chrono::duration<double> taken) {
    // Racing threads find the same metrics.
    std::atomic<Counter*>& slot = counters_[static_cast<size_t>(status) % counters_.size()];
    Counter* counter = slot.load(std::memory_order_acquire);
    if (counter == nullptr) {
      Labels labels = labels_;
      labels.emplace_back("status", std::to_string(status));
      counter =
          &metrics_.GetCounter("hearth_app_requests_total", "Requests to applications.", labels);
      slot.store(counter, std::memory_order_release);
    }
    counter->Add();
    Histogram* seconds = seconds_.load(std::memory_order_acquire);
    if (seconds == nullptr) {
      seconds =
          &metrics_.GetHistogram("hearth_app_request_seconds",
                                 "Time to the answer of an application.", LatencyBounds(), labels_);
      seconds_.store(seconds, std::memory_order_release);
    }
    seconds->Observe(taken.count());
  }

 private:
  static constexpr size_t kStatuses = 600;  // All that PreparedAnswer sends are below.

  Metrics& metrics_;
  const Labels labels_;
  std::array<std::atomic<Counter*>, kStatuses> counters_ = {};
  std::atomic<Histogram*> seconds_ = nullptr;
};

// One request that goes to a handler. A body whose announced length exceeds the limit is refused
// before any of it is read.
//
// Threads: the exchange's loop, except that Run has the request to itself. Ownership: shared by the
// connection, the task that runs the handler and the task that sends the answer.
class AppService::Call final : public http::ExchangeHandler,
                               public std::enable_shared_from_this<Call> {
 public:
  Call(AppService& service, http::Exchange& exchange, std::string path, RouteMeter& meter,
       const Routes::Found& found)
      : service_(service),
        meter_(meter),
        lane_(service.LaneOf(found.options.work)),
        loop_(exchange.loop()),
        exchange_(&exchange),
        wishes_(exchange.head()),
        last_event_id_(ParseNumber(exchange.head().Find("last-event-id").value_or(""))),
        body_bytes_max_(found.options.body_bytes_max.value_or(service.options_.body_bytes_max)),
        body_bytes_announced_(ParseNumber(exchange.head().Find("content-length").value_or(""))),
        path_(std::move(path)),
        peer_(exchange.peer()),
        client_(Lane::Client::Of(exchange)),
        memory_(service.options_.memory),
        started_(service.clock_.Monotonic()),
        head_(exchange.TakeHead()) {}

  // False if already refused.
  bool CheckAnnouncedLength() {
    if (body_bytes_announced_ <= body_bytes_max_) return true;
    RefuseTooLarge();
    return false;
  }

  void OnBody(std::string_view bytes) override {
    exchange_->ConsumeBody(bytes.size());
    if (answered_) return;
    if (bytes.size() > body_bytes_max_ - body_.size()) return RefuseTooLarge();
    if (!exchange_->budget().Take(bytes.size())) {
      return Refuse(503, "too many unfinished requests");
    }
    budget_taken_bytes_ += bytes.size();
    const Taken taken = service_.TakeBodyBytes(client_.group, bytes.size());
    if (taken == Taken::kFull) return Refuse(503, "too many large requests at the same time");
    if (taken == Taken::kShareUsed)
      return Refuse(429, "too many of your large requests are unfinished");
    service_taken_bytes_ += bytes.size();
    // Reserved at once, because growing step by step would hold a large body twice. Pages that the
    // client never fills are not touched, and so cost no memory.
    if (body_.empty()) body_.reserve(body_bytes_announced_);
    body_.append(bytes);
  }

  void OnBodyEnd() override {
    if (answered_) return;
    // From now on the body belongs to the handler, even if the connection is closed.
    memory_.GrowAnyway(body_.size());
    exchange_->budget().Return(std::exchange(budget_taken_bytes_, 0));
    const Lane::Admission admission =
        lane_.TryPost(client_, [self = shared_from_this()] { self->Run(); });
    is_with_handler_ = admission == Lane::Admission::kTaken;
    if (admission == Lane::Admission::kFull) Refuse(503, "the application is overloaded");
    if (admission == Lane::Admission::kShareUsed) {
      Refuse(429, "too many of your requests are waiting");
    }
  }

  void OnInputEnd() override {
    if (stream_) stream_->End();
  }
  void OnDrain() override {
    if (stream_) stream_->End();
  }
  void OnWritable() override {
    if (stream_) stream_->OnWritable();
  }

  void OnClosed() override {
    answered_ = true;
    exchange_->budget().Return(budget_taken_bytes_);
    exchange_ = nullptr;
    if (!is_with_handler_) ReturnBodyBytes();  // Else the handler still reads the body.
    if (stream_) stream_->Close();
  }

 private:
  // Runs on one of the service's threads.
  void Run() {
    Response response = service_.routes_.Answer(Request(
        std::move(head_), std::move(body_), std::move(path_), peer_, service_.options_.prefix));
    ReturnBodyBytes();  // The body is gone with the request. Sending may take long.
    if (response.events) {
      loop_->Post([self = shared_from_this(), events = std::move(response.events)]() mutable {
        self->SendEvents(std::move(events));
      });
      return;
    }
    // Shared only because a task must be copyable.
    const auto answer =
        std::make_shared<PreparedAnswer>(PreparedAnswer::Of(std::move(response), wishes_));
    Count(answer->status);
    loop_->Post([self = shared_from_this(), answer] { self->Send(std::move(*answer)); });
  }

  void Send(PreparedAnswer answer) {
    if (std::exchange(answered_, true)) return;
    std::move(answer).SendTo(*exchange_);
  }

  void SendEvents(std::shared_ptr<EventChannel> channel) {
    if (answered_) return;
    // Browsers reconnect after the end until they get a response that says that there is no more.
    const EventChannel::Piece rest = channel->ReadAfter(last_event_id_, 1);
    if (rest.has_ended && rest.text.empty()) {
      Count(204);
      return Send(PreparedAnswer::Of(Response{.status = 204}, wishes_));
    }
    auto stream = std::make_shared<EventStream>(*exchange_, std::move(channel), last_event_id_,
                                                service_.options_.event_keep_alive);
    if (!stream->Subscribe()) return Refuse(503, "too many clients are watching this");
    answered_ = true;
    Count(200);
    stream_ = std::move(stream);
    SendEventStreamHead(*exchange_);
    stream_->Start();
  }

  void Count(int status) { meter_.Count(status, service_.clock_.Monotonic() - started_); }

  void ReturnBodyBytes() {
    FreeText(body_);
    memory_.Reset();
    service_.ReturnBodyBytes(client_.group, std::exchange(service_taken_bytes_, 0));
  }

  void RefuseTooLarge() {
    Refuse(413, "the request body is larger than " + std::to_string(body_bytes_max_) + " bytes");
  }
  void Refuse(int status, const std::string& message) {
    ReturnBodyBytes();
    Count(status);
    Response response = service_.routes_.Error(status, message);
    if (status == 503 || status == 429) response.headers.emplace_back("retry-after", "1");
    Send(PreparedAnswer::Of(std::move(response), wishes_));
  }

  AppService& service_;
  RouteMeter& meter_;
  Lane& lane_;
  const std::shared_ptr<http::EventLoop> loop_;  // Shared: the call may outlive the server.
  http::Exchange* exchange_;                     // Null once closed.
  const AnswerWishes wishes_;
  const uint64_t last_event_id_;
  const size_t body_bytes_max_;
  const uint64_t body_bytes_announced_;  // 0 if not announced.
  std::string path_;
  const std::string peer_;
  const Lane::Client client_;
  MemoryClaim memory_;  // For the complete body; before that, the connection accounts for it.
  const std::chrono::steady_clock::time_point started_;
  http::RequestHead head_;
  std::string body_;
  size_t budget_taken_bytes_ = 0;   // From the connection's budget.
  size_t service_taken_bytes_ = 0;  // From the service's budget, until the body is freed.
  bool answered_ = false;
  bool is_with_handler_ = false;
  std::shared_ptr<EventStream> stream_;  // Shared with the loop's tasks.
};

size_t AppServiceOptions::SignInThreads() {
  return std::clamp<size_t>(std::thread::hardware_concurrency() / 2, 2, 4);
}

AppService::AppService(AppServiceOptions options, const Routes& routes, const Clock& clock,
                       Metrics& metrics)
    : options_(std::move(options)),
      routes_(routes),
      clock_(clock),
      metrics_(metrics),
      lanes_(
          {std::make_unique<Lane>(LaneOptions::Of(options_.threads, options_.queued_requests_max)),
           std::make_unique<Lane>(options_.sign_ins), std::make_unique<Lane>(options_.uploads)}),
      queued_gauge_(metrics_.AddGauges(
          "hearth_app_queued_requests", "Requests that wait for a thread of their application.",
          [this] {
            Metrics::Samples samples;
            for (size_t i = 0; i < kWorkKinds; ++i) {
              samples.push_back({.labels = {{"app", options_.name}, {"work", kWorkNames[i]}},
                                 .value = static_cast<double>(lanes_[i]->queued_tasks())});
            }
            return samples;
          })) {
  CHECK(options_.prefix.empty() ||
        (options_.prefix.starts_with('/') && !options_.prefix.ends_with('/')));
}

AppService::~AppService() = default;

std::shared_ptr<http::ExchangeHandler> AppService::Open(http::Exchange& exchange) {
  const std::string_view whole_path = exchange.head().path();
  const std::string_view below =
      whole_path.substr(std::min(options_.prefix.size(), whole_path.size()));
  // "/apps/news" is not a parent of "/apps/newspaper".
  if (!whole_path.starts_with(options_.prefix) || (!below.empty() && !below.starts_with('/'))) {
    PreparedAnswer::Of(routes_.Error(404, "not found"), AnswerWishes(exchange.head()))
        .SendTo(exchange);
    return nullptr;
  }
  const std::string path(below);
  const Routes::Found found = routes_.Find(exchange.head().method(), path);
  if (AnswerAtOnce(exchange, found, path)) return nullptr;
  auto call = std::make_shared<Call>(*this, exchange, path, MeterOf(found), found);
  if (!call->CheckAnnouncedLength()) return nullptr;
  return call;
}

AppService::Taken AppService::TakeBodyBytes(const std::string& group, size_t bytes) {
  MutexLock lock(bodies_mutex_);
  if (bytes > options_.all_bodies_bytes_max - body_bytes_) return Taken::kFull;
  const auto found = group_body_bytes_.find(group);
  const size_t group_bytes = found == group_body_bytes_.end() ? 0 : found->second;
  const size_t free_bytes = options_.all_bodies_bytes_max - body_bytes_ - bytes;
  if (group_bytes + bytes > free_bytes) return Taken::kShareUsed;
  body_bytes_ += bytes;
  group_body_bytes_[group] = group_bytes + bytes;
  return Taken::kYes;
}

void AppService::ReturnBodyBytes(const std::string& group, size_t bytes) {
  if (bytes == 0) return;
  MutexLock lock(bodies_mutex_);
  body_bytes_ -= bytes;
  const auto found = group_body_bytes_.find(group);
  found->second -= bytes;
  if (found->second == 0) group_body_bytes_.erase(found);
}

AppService::RouteMeter& AppService::MeterOf(const Routes::Found& found) {
  std::call_once(meters_made_, [this] {
    const auto add = [this](std::string_view method, std::string_view route) {
      meters_.push_back(std::make_unique<RouteMeter>(metrics_, options_.name, method, route));
    };
    for (size_t i = 0; i < routes_.size(); ++i) add(routes_.method(i), routes_.pattern(i));
    add("GET", "assets");
    add("", "other");
  });
  if (found.handler != nullptr) return *meters_[found.number];
  return *meters_[routes_.size() + (found.asset != nullptr ? 0 : 1)];
}

bool AppService::AnswerAtOnce(http::Exchange& exchange, const Routes::Found& found,
                              std::string_view path) {
  const http::RequestHead& head = exchange.head();
  const AnswerWishes wishes(head);
  std::optional<PreparedAnswer> answer;
  if (path.empty()) {
    // The page's links are relative to its folder.
    const std::string query = head.query().empty() ? "" : "?" + std::string(head.query());
    answer = PreparedAnswer::Of(
        Response{.status = 307, .headers = {{"location", options_.prefix + "/" + query}}}, wishes);
  } else if (ChangesSomething(head.method()) && IsCrossSite(head)) {
    answer = PreparedAnswer::Of(
        routes_.Error(403, "requests from pages of other sites are refused"), wishes);
  } else if (found.asset != nullptr) {
    answer = PreparedAnswer::Of(*found.asset, wishes);
  } else if (found.handler == nullptr) {
    // No application code runs for it.
    answer = PreparedAnswer::Of(
        routes_.Answer(Request(head, "", std::string(path), exchange.peer())), wishes);
  }
  if (!answer) return false;
  MeterOf(found).Count(answer->status, std::chrono::seconds(0));
  std::move(*answer).SendTo(exchange);
  return true;
}

}  // namespace hearth::kit
