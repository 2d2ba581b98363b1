#include "apps/sandbox/sandbox.h"

#include <arpa/inet.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/sandbox/fault_board.h"
#include "apps/sandbox/stand_in.h"
#include "base/check.h"
#include "base/http_status.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "http/event_loop.h"
#include "http/exchange.h"
#include "http/plain.h"
#include "http/server.h"
#include "kit/web/routes.h"
#include "kit/web/session.h"

namespace hearth::sandbox {
namespace {

constexpr size_t kBodyBytesMax = 1024 * 1024;
constexpr size_t kSlowDrops = 32;
constexpr size_t kTokenCharacters = 32;

http::PlainAnswer ToPlain(kit::Response response) {
  return {.status = response.status,
          .content_type = std::move(response.content_type),
          .body = std::move(response.body),
          .more_headers = std::move(response.headers)};
}

// Finds the handler and the fault of a request. Threads: as for FaultBoard; the rest is immutable.
class Switchboard {
 public:
  struct Verdict {
    kit::Response response;
    std::optional<Fault> fault;
  };

  Switchboard(const StandInContext& context, std::string token)
      : token_(std::move(token)), stand_ins_(MakeStandIns(context)), faults_(Names(stand_ins_)) {
    for (const auto& stand_in : stand_ins_) stand_in->AddRoutes(routes_[stand_in->name()]);
    own_.Add("GET", "/", [this](const kit::Request&) { return IndexPage(); });
    own_.Add("GET", "/control", [this](const kit::Request&) { return Describe(); });
    own_.Add("POST", "/control/faults", [this](const kit::Request& request) {
      const Result<Fault> added = faults_.Add(request.body());
      if (!added.ok()) return Error(added.status());
      return kit::Response::Json(added->ToJson(), 201);
    });
    own_.Add("DELETE", "/control/faults", [this](const kit::Request&) {
      faults_.Clear();
      return kit::Response::Json({{"success", true}});
    });
  }

  // Whether the caller may use the sandbox. The head decides, so that a stranger's body is never
  // kept.
  Status Admit(const http::RequestHead& head) const {
    const std::string_view site = head.Find("sec-fetch-site").value_or("none");
    if (head.Find("origin") || (site != "none" && site != "same-origin")) {
      return Status(Code::kPermissionDenied, "requests of web pages are refused");
    }
    if (!kit::IsSameSecret(Split(head.path()).token, token_)) {
      return Status(Code::kNotFound, "not found");
    }
    return Status();
  }

  kit::Response Error(const Status& status) const {
    return own_.Error(HttpStatusOf(status.code()), status.message());
  }

  // Requires Admit.
  Verdict Answer(http::RequestHead head, std::string body, std::string peer) {
    const std::string_view rest = Split(head.path()).below;
    const std::string path(rest.empty() ? "/" : rest);
    const size_t slash = path.find('/', 1);
    const std::string first = path.substr(1, slash == std::string::npos ? slash : slash - 1);
    const auto found = routes_.find(first);
    if (found == routes_.end()) {
      return {own_.Answer(kit::Request(std::move(head), std::move(body), path, std::move(peer))),
              std::nullopt};
    }
    std::string below = slash == std::string::npos ? "/" : path.substr(slash);
    std::optional<Fault> fault = faults_.OnRequest(first, below);
    return {found->second.Answer(
                kit::Request(std::move(head), std::move(body), std::move(below), std::move(peer))),
            std::move(fault)};
  }

 private:
  // "/TOKEN/hn/v0/...": the token, and the path below it.
  struct PathParts {
    std::string_view token;
    std::string_view below;
  };
  static PathParts Split(std::string_view path) {
    if (!path.starts_with('/')) return {};  // The "*" of OPTIONS.
    path.remove_prefix(1);
    const size_t token_end = std::min(path.find('/'), path.size());
    return {.token = path.substr(0, token_end), .below = path.substr(token_end)};
  }

  static std::vector<std::string> Names(const std::vector<std::unique_ptr<StandIn>>& stand_ins) {
    std::vector<std::string> names;
    for (const auto& stand_in : stand_ins) names.push_back(stand_in->name());
    return names;
  }

  kit::Response Describe() const {
    nlohmann::json services = nlohmann::json::object();
    const std::map<std::string, uint64_t> counts = faults_.request_counts();
    for (const auto& stand_in : stand_ins_) {
      services[stand_in->name()] = {{"summary", stand_in->summary()},
                                    {"requests", counts.at(stand_in->name())}};
    }
    nlohmann::json faults = nlohmann::json::array();
    for (const Fault& fault : faults_.faults()) faults.push_back(fault.ToJson());
    return kit::Response::Json({{"services", services}, {"faults", faults}});
  }

  kit::Response IndexPage() const {
    const std::string base = "/" + token_ + "/";
    std::string page =
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sandbox</title>"
        "<style>body{font:16px/1.5 system-ui;max-width:40em;margin:2em auto;padding:0 1em;"
        "color-scheme:light dark}</style><h1>Sandbox</h1>"
        "<p>Stand-ins for outside services. Their content is made up.</p><ul>";
    for (const auto& stand_in : stand_ins_) {
      const std::string path = base + stand_in->name() + stand_in->example_path();
      page += "<li><a href=\"" + path + "\">" + stand_in->name() + "</a>: " + stand_in->summary() +
              "</li>";
    }
    page += "</ul><p><a href=\"" + base +
            "control\">/control</a> lists requests and faults. "
            "<code>POST /control/faults</code> makes a service fail: "
            "<code>{\"service\": \"hn\", \"fault\": \"error\", \"times\": 3}</code>.</p></html>\n";
    return {.content_type = "text/html; charset=utf-8", .body = std::move(page)};
  }

  const std::string token_;
  const std::vector<std::unique_ptr<StandIn>> stand_ins_;
  FaultBoard faults_;
  std::map<std::string, kit::Routes> routes_;  // By the stand-in's name.
  kit::Routes own_;
};

// One request that was admitted, answered normally or with a fault. Threads: lives on its loop.
class Call final : public http::ExchangeHandler {
 public:
  Call(http::Exchange& exchange, Switchboard& switchboard)
      : exchange_(exchange), switchboard_(switchboard), timer_(*exchange.loop()) {}

  void OnBody(std::string_view bytes) override {
    exchange_.ConsumeBody(bytes.size());
    if (is_refused_) return;
    if (bytes.size() > kBodyBytesMax - body_.size()) {
      return Refuse({.status = 413, .body = "the request body is too large\n"});
    }
    if (!Claim(bytes.size())) return Refuse(NoMemory());
    body_.append(bytes);
  }

  void OnBodyEnd() override {
    if (is_refused_) return;
    std::string peer = exchange_.peer();
    Switchboard::Verdict verdict =
        switchboard_.Answer(exchange_.TakeHead(), std::move(body_), std::move(peer));
    DropBody();
    if (!verdict.fault) return Send(std::move(verdict.response));
    SendFault(*verdict.fault, std::move(verdict.response));
  }

  void OnDrain() override { exchange_.Abort(); }
  void OnClosed() override {
    timer_.Disarm();
    DropBody();
  }

 private:
  static kit::Response NoMemory() {
    return {.status = 503, .body = "too many unfinished requests\n"};
  }

  void Send(kit::Response response) { AnswerPlain(exchange_, ToPlain(std::move(response))); }

  void Refuse(kit::Response response) {
    is_refused_ = true;
    DropBody();
    Send(std::move(response));
  }

  // For `body_`. False if the connection or the process has no room.
  bool Claim(size_t bytes) {
    if (!exchange_.budget().Take(bytes)) return false;
    claimed_bytes_ += bytes;
    return true;
  }
  void DropBody() {
    FreeText(body_);
    exchange_.budget().Return(std::exchange(claimed_bytes_, 0));
  }

  void SendFault(const Fault& fault, kit::Response response) {
    switch (fault.kind) {
      case FaultKind::kTimeout:
        return;
      case FaultKind::kError:
        return Send({.status = 500, .body = "internal error\n"});
      case FaultKind::kRateLimit:
        return Send(
            {.status = 429, .body = "too many requests\n", .headers = {{"retry-after", "1"}}});
      case FaultKind::kGarbage:
        return Send({.content_type = "application/json; charset=utf-8",
                     .body = std::string("{\"id\": 17, \"ti\xff\xfe\0tle", 19)});
      case FaultKind::kSlow:
        return Drip(std::move(response), fault.slow_pause);
      case FaultKind::kRefuse:
        return exchange_.Abort();
      case FaultKind::kWrongType:
        return Send({.content_type = "text/html; charset=utf-8",
                     .body = "<html><body>We will be back soon.</body></html>\n"});
    }
  }

  void Drip(kit::Response response, std::chrono::milliseconds pause) {
    if (!Claim(response.body.size())) return Send(NoMemory());
    const std::string length = std::to_string(response.body.size());
    std::vector<http::Header> headers = {{.name = "content-type", .value = response.content_type},
                                         {.name = "content-length", .value = length}};
    for (const auto& [name, value] : response.headers) {
      headers.push_back({.name = name, .value = value});
    }
    exchange_.SendHead(response.status, headers, http::BodyFollows::kYes);
    drop_bytes_ = response.body.size() / kSlowDrops + 1;
    body_ = std::move(response.body);
    slow_pause_ = pause;
    DripOnce();
  }

  void DripOnce() {
    const size_t bytes = std::min(drop_bytes_, body_.size());
    exchange_.SendBody(body_.substr(0, bytes));
    body_.erase(0, bytes);
    if (body_.empty()) return exchange_.Finish({});
    timer_.Arm(std::chrono::steady_clock::now() + slow_pause_, [this] { DripOnce(); });
  }

  http::Exchange& exchange_;
  Switchboard& switchboard_;
  http::Timer timer_;
  std::string body_;  // Of the request; for a slow response, the rest of it.
  size_t claimed_bytes_ = 0;
  bool is_refused_ = false;
  size_t drop_bytes_ = 0;
  std::chrono::milliseconds slow_pause_{0};
};

class SandboxService final : public http::Service {
 public:
  SandboxService(const StandInContext& context, std::string token)
      : switchboard_(context, std::move(token)) {}

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override {
    if (const Status admitted = switchboard_.Admit(exchange.head()); !admitted.ok()) {
      AnswerPlain(exchange, ToPlain(switchboard_.Error(admitted)));
      return nullptr;
    }
    return std::make_shared<Call>(exchange, switchboard_);
  }

 private:
  Switchboard switchboard_;
};

bool IsLoopback(const std::string& host) {
  in_addr v4;
  in6_addr v6;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return host == "localhost";
}

Result<std::string> TokenOf(const SandboxOptions& options) {
  if (options.token.empty()) {
    std::string token;
    constexpr char kDigits[] = "0123456789abcdef";
    for (const char byte : SecureRandomBytes(kTokenCharacters)) token += kDigits[byte & 0xf];
    return token;
  }
  if (options.token.size() < Sandbox::kTokenCharactersMin ||
      !std::ranges::all_of(options.token, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      })) {
    return InvalidArgument("the sandbox's token needs at least " +
                           std::to_string(Sandbox::kTokenCharactersMin) + " letters and digits");
  }
  return options.token;
}

http::ServerOptions ServerOptionsOf(const SandboxOptions& options) {
  http::ServerOptions server;
  server.listen = {{.host = options.host, .port = options.port}};
  server.connections_max = options.connections_max;
  // Strangers can connect, too. Their idle connections must not keep applications out.
  server.replaceable_after = std::chrono::milliseconds(0);
  server.memory = options.memory;
  return server;
}

}  // namespace

struct Sandbox::State {
  State(const SandboxOptions& options, const std::string& secret)
      : service({.seed = options.seed, .clock = *options.clock}, secret),
        host(options.host),
        token(secret),
        server(ServerOptionsOf(options), service) {}

  SandboxService service;
  const std::string host;
  const std::string token;
  http::Server server;
};

Sandbox::Sandbox(std::unique_ptr<State> state) : state_(std::move(state)) {}
Sandbox::~Sandbox() = default;

Result<std::unique_ptr<Sandbox>> Sandbox::Start(const SandboxOptions& options) {
  CHECK(options.clock != nullptr);
  if (!IsLoopback(options.host)) {
    return InvalidArgument("the sandbox listens on loopback addresses only, not on " +
                           options.host);
  }
  ASSIGN_OR_RETURN(const std::string token, TokenOf(options));
  auto state = std::make_unique<State>(options, token);
  RETURN_IF_ERROR(state->server.Start());
  return std::unique_ptr<Sandbox>(new Sandbox(std::move(state)));
}

std::string Sandbox::host_port() const {
  const bool is_ipv6 = state_->host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + state_->host + "]" : state_->host) + ":" +
         std::to_string(state_->server.addresses().front().port);
}

std::string Sandbox::url() const { return "http://" + host_port() + "/" + state_->token; }

}  // namespace hearth::sandbox
