#include "kit/outbound/outbound.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <thread>

#include "base/testing/fake_clock.h"
#include "http/gzip.h"
#include "http/testing/test_server.h"

namespace hearth::kit {
namespace {

using http::PlainAnswer;
using http::PlainCall;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A service whose responses the test chooses.
class OutboundTest : public testing::Test {
 protected:
  using Answer = std::function<PlainAnswer(const PlainCall&)>;

  void Serve(const std::string& method, const std::string& path, Answer answer) {
    server_.router.AddPlain(method, path,
                            [this, answer = std::move(answer)](std::shared_ptr<PlainCall> call) {
                              ++asked_;
                              call->Respond(answer(*call));
                            });
  }
  void ServeText(const std::string& path, const std::string& body) {
    Serve("GET", path, [body](const PlainCall&) { return PlainAnswer{.body = body}; });
  }
  // Never answers.
  void ServeNothing(const std::string& path) {
    server_.router.AddPlain("GET", path, [this](std::shared_ptr<PlainCall> call) {
      held_.Update([&call](auto& calls) { calls.push_back(std::move(call)); });
    });
  }
  // One status after another; the last one repeats.
  void ServeStatuses(const std::string& method, const std::string& path, std::vector<int> statuses,
                     std::vector<std::pair<std::string, std::string>> headers = {}) {
    auto next = std::make_shared<std::atomic<size_t>>(0);
    Serve(method, path, [=](const PlainCall&) {
      const size_t index = std::min(next->fetch_add(1), statuses.size() - 1);
      return PlainAnswer{.status = statuses[index], .body = "{}", .more_headers = headers};
    });
  }
  void Start() { server_.Start(); }
  std::string host_port() const { return "127.0.0.1:" + std::to_string(server_.port()); }
  std::string Url(const std::string& path) const { return "http://" + host_port() + path; }
  OutboundOptions Options() const {
    return {.name = "test",
            .backoff = milliseconds(1),
            .backoff_max = milliseconds(2),
            .breaker_failures = 0,
            .private_hosts_allowed = {host_port()}};
  }
  std::unique_ptr<Outbound> Make(OutboundOptions options) {
    return std::make_unique<Outbound>(std::move(options), clock_, random_, metrics_);
  }

  http::Watched<std::vector<std::shared_ptr<PlainCall>>> held_;
  std::atomic<size_t> asked_ = 0;
  http::TestServer server_;
  SystemClock clock_;
  RandomSource random_{1};
  Metrics metrics_;
};

TEST_F(OutboundTest, SendsAllOfTheRequestAndReturnsAllOfTheAnswer) {
  Serve("POST", "/echo", [](const PlainCall& call) {
    return PlainAnswer{.status = 418,
                       .content_type = "text/x",
                       .body = std::string(call.head().Find("x-one").value_or("?")) + "|" +
                               std::string(call.head().Find("user-agent").value_or("?")) + "|" +
                               std::string(call.head().Find("content-type").value_or("none")) +
                               "|" + std::string(call.head().query()) + "|" +
                               std::string(call.body()),
                       .more_headers = {{"x-two", "b"}}};
  });
  Start();
  const auto outbound = Make(Options());
  const Result<HttpResponse> response = outbound->Send({.method = "POST",
                                                        .url = Url("/echo?q=1"),
                                                        .headers = {{"X-One", "a"}},
                                                        .body = std::string("a\0b", 3)});
  ASSERT_TRUE(response.ok()) << response.status().ToString();
  EXPECT_EQ(response->status, 418);
  EXPECT_EQ(response->body, "a|Hearth/1.0|none|q=1|" + std::string("a\0b", 3));
  EXPECT_EQ(response->Header("x-two"), "b");
  EXPECT_EQ(response->Header("content-type"), "text/x");
  EXPECT_EQ(response->Header("x-three"), std::nullopt);
  EXPECT_EQ(response->url, Url("/echo?q=1"));
}

TEST_F(OutboundTest, OtherMethodsAndHeadWork) {
  for (const char* method : {"PUT", "PATCH", "DELETE"}) {
    Serve(method, "/x", [](const PlainCall& call) {
      return PlainAnswer{.body = std::string(call.head().method()) + std::string(call.body())};
    });
  }
  ServeText("/x", "get");
  Start();
  const auto outbound = Make(Options());
  EXPECT_EQ(outbound->Send({.method = "PUT", .url = Url("/x"), .body = "1"})->body, "PUT1");
  EXPECT_EQ(outbound->Send({.method = "PATCH", .url = Url("/x")})->body, "PATCH");
  EXPECT_EQ(outbound->Send({.method = "DELETE", .url = Url("/x")})->body, "DELETE");
  EXPECT_EQ(outbound->Send({.url = Url("/x")})->body, "get");
  const Result<HttpResponse> head = outbound->Send({.method = "HEAD", .url = Url("/x")});
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->body, "");
}

TEST_F(OutboundTest, RequestsThatMakeNoSenseAreNotSent) {
  ServeText("/x", "");
  Start();
  const auto outbound = Make(Options());
  for (const HttpRequest& request : {
           HttpRequest{.url = ""},
           HttpRequest{.url = "ftp://127.0.0.1/"},
           HttpRequest{.url = "http://user:pw@" + host_port() + "/x"},
           HttpRequest{.method = "", .url = Url("/x")},
           HttpRequest{.method = "GET / HTTP/1.1\r\nX:", .url = Url("/x")},
           HttpRequest{.url = Url("/x"), .headers = {{"a", "b\r\nc: d"}}},
           HttpRequest{.url = Url("/x"), .headers = {{"a b", "c"}}},
           HttpRequest{.url = Url("/x"), .headers = {{"", "c"}}},
       }) {
    EXPECT_EQ(outbound->Send(request).status().code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(asked_, 0u);
}

TEST_F(OutboundTest, FetchJsonTellsWhatIsWrong) {
  ServeText("/good", R"({"a": 1})");
  ServeText("/null", "null");
  ServeText("/bad", "<html>");
  ServeText("/empty", "");
  ServeText("/deep", std::string(100, '[') + std::string(100, ']'));
  ServeText("/deeper", std::string(101, '[') + std::string(101, ']'));
  ServeText("/deepest", std::string(1'000'000, '['));
  ServeText("/huge", "1e999");
  ServeStatuses("GET", "/teapot", {418});
  ServeStatuses("GET", "/broken", {503});
  ServeStatuses("GET", "/moved", {302}, {{"location", "/good"}});
  Start();
  const auto outbound = Make(Options());
  EXPECT_EQ(*outbound->FetchJson(Url("/good")), nlohmann::json::parse(R"({"a": 1})"));
  EXPECT_TRUE(outbound->FetchJson(Url("/null"))->is_null());
  EXPECT_EQ(outbound->FetchJson(Url("/bad")).status().code(), Code::kDataLoss);
  EXPECT_EQ(outbound->FetchJson(Url("/empty")).status().code(), Code::kDataLoss);
  EXPECT_TRUE(outbound->FetchJson(Url("/deep")).ok());
  for (const char* path : {"/deeper", "/deepest", "/huge"}) {
    EXPECT_EQ(outbound->FetchJson(Url(path)).status().code(), Code::kDataLoss) << path;
  }
  EXPECT_EQ(outbound->FetchJson(Url("/nowhere")).status().code(), Code::kNotFound);
  EXPECT_EQ(outbound->FetchJson(Url("/teapot")).status().code(), Code::kUnavailable);
  EXPECT_EQ(outbound->FetchJson(Url("/broken")).status().code(), Code::kUnavailable);
  // A path may contain a secret.
  for (const char* path : {"/bad", "/nowhere", "/teapot", "/broken"}) {
    const std::string message = outbound->FetchJson(Url(path)).status().message();
    EXPECT_EQ(message.find(path), std::string::npos) << message;
  }
  EXPECT_EQ(outbound->FetchJson(Url("/moved")).status().code(), Code::kUnavailable);
}

TEST_F(OutboundTest, FetchAllJsonKeepsTheOrderAndTheErrors) {
  for (int i = 0; i < 50; ++i) {
    ServeText("/" + std::to_string(i), i == 17 ? "broken" : std::to_string(i));
  }
  Start();
  OutboundOptions options = Options();
  options.concurrent_max = 8;
  const auto outbound = Make(options);
  std::vector<std::string> urls;
  for (int i = 0; i < 50; ++i) urls.push_back(Url("/" + std::to_string(i)));
  urls.push_back(Url("/nowhere"));
  const std::vector<Result<nlohmann::json>> all = outbound->FetchAllJson(urls);
  ASSERT_EQ(all.size(), 51u);
  for (size_t i = 0; i < 50; ++i) {
    if (i == 17) {
      EXPECT_EQ(all[i].status().code(), Code::kDataLoss);
    } else {
      EXPECT_EQ(*all[i], i);
    }
  }
  EXPECT_EQ(all[50].status().code(), Code::kNotFound);
  EXPECT_TRUE(outbound->FetchAllJson({}).empty());
}

TEST_F(OutboundTest, TriesAgainWhatMayPass) {
  ServeStatuses("GET", "/x", {503, 429, 200});
  Start();
  const auto outbound = Make(Options());
  EXPECT_EQ(outbound->Send({.url = Url("/x")})->status, 200);
  EXPECT_EQ(asked_, 3u);
  EXPECT_EQ(metrics_.GetCounter("hearth_outbound_retries_total", "", {{"service", "test"}}).value(),
            2u);
  EXPECT_EQ(
      metrics_.GetCounter("hearth_outbound_requests_total", "", {{"service", "test"}}).value(), 3u);
  EXPECT_EQ(
      metrics_.GetCounter("hearth_outbound_failures_total", "", {{"service", "test"}}).value(), 2u);
  EXPECT_EQ(
      metrics_.GetHistogram("hearth_outbound_seconds", "", {}, {{"service", "test"}}).Read().count,
      3u);
}

TEST_F(OutboundTest, GivesUpAfterSoManyTries) {
  ServeStatuses("GET", "/x", {500});
  Start();
  EXPECT_EQ(Make(Options())->Send({.url = Url("/x")})->status, 500);
  EXPECT_EQ(asked_, 3u);
}

TEST_F(OutboundTest, DoesNotTryAgainWhatWillNotPassOrMayHaveHappened) {
  ServeStatuses("GET", "/gone", {410});
  ServeStatuses("POST", "/x", {503});
  Start();
  const auto outbound = Make(Options());
  EXPECT_EQ(outbound->Send({.url = Url("/gone")})->status, 410);
  EXPECT_EQ(asked_, 1u);
  EXPECT_EQ(outbound->Send({.method = "POST", .url = Url("/x")})->status, 503);
  EXPECT_EQ(asked_, 2u);
}

TEST_F(OutboundTest, AServiceThatIsNotThereIsUnavailable) {
  Start();
  OutboundOptions options = Options();
  options.private_hosts_allowed = {"127.0.0.1:1"};
  EXPECT_EQ(Make(options)->Send({.url = "http://127.0.0.1:1/"}).status().code(),
            Code::kUnavailable);
  EXPECT_EQ(
      metrics_.GetCounter("hearth_outbound_requests_total", "", {{"service", "test"}}).value(), 3u);
}

TEST_F(OutboundTest, NoAnswerIsDeadlineExceeded) {
  ServeNothing("/x");
  Start();
  OutboundOptions options = Options();
  options.timeout = milliseconds(50);
  EXPECT_EQ(Make(options)->Send({.url = Url("/x")}).status().code(), Code::kDeadlineExceeded);
  EXPECT_EQ(
      metrics_.GetCounter("hearth_outbound_requests_total", "", {{"service", "test"}}).value(), 3u);
}

TEST_F(OutboundTest, AnAnswerThatIsTooLargeIsRefusedEvenIfItWasSmallOnTheWire) {
  ServeText("/fits", std::string(1'000, 'x'));
  ServeText("/large", std::string(1'001, 'x'));
  Serve("GET", "/bomb", [](const PlainCall&) {
    return PlainAnswer{.body = http::Gzip(std::string(1'000'000, 'x')),
                       .more_headers = {{"content-encoding", "gzip"}}};
  });
  Serve("GET", "/head", [](const PlainCall&) {
    return PlainAnswer{.more_headers = {{"x-large", std::string(70'000, 'x')}}};
  });
  Start();
  OutboundOptions options = Options();
  options.response_bytes_max = 1'000;
  const auto outbound = Make(options);
  EXPECT_EQ(outbound->Send({.url = Url("/fits")})->body.size(), 1'000u);
  for (const char* path : {"/large", "/bomb", "/head"}) {
    asked_ = 0;
    EXPECT_EQ(outbound->Send({.url = Url(path)}).status().code(), Code::kResourceExhausted) << path;
    EXPECT_EQ(asked_, 1u) << path;
  }
}

TEST_F(OutboundTest, PrivateAddressesAreRefusedUnlessListed) {
  ServeText("/x", "secret");
  Start();
  OutboundOptions options = Options();
  options.private_hosts_allowed = {"127.0.0.1:1"};
  const auto outbound = Make(options);
  const std::string port = ":" + std::to_string(server_.port());
  for (const std::string host :
       {"127.0.0.1", "localhost", "[::1]", "0.0.0.0", "0x7f.0.0.1", "2130706433", "127.1",
        "[::ffff:127.0.0.1]", "169.254.169.254", "[fe80::1]"}) {
    EXPECT_EQ(outbound->Send({.url = "http://" + host + port + "/x"}).status().code(),
              Code::kPermissionDenied)
        << host;
  }
  EXPECT_EQ(asked_, 0u);
}

TEST_F(OutboundTest, FollowsRedirectsUpToTheLimit) {
  ServeStatuses("GET", "/1", {302}, {{"location", "2"}});
  ServeStatuses("GET", "/2", {301}, {{"location", "/3"}});
  ServeText("/3", "there");
  Start();
  OutboundOptions options = Options();
  EXPECT_EQ(Make(options)->Send({.url = Url("/1")})->status, 302);
  options.redirects_max = 1;
  const Result<HttpResponse> half = Make(options)->Send({.url = Url("/1")});
  EXPECT_EQ(half->status, 301);
  EXPECT_EQ(half->url, Url("/2"));
  options.redirects_max = 2;
  const Result<HttpResponse> whole = Make(options)->Send({.url = Url("/1")});
  EXPECT_EQ(whole->body, "there");
  EXPECT_EQ(whole->url, Url("/3"));
}

TEST_F(OutboundTest, ARedirectIsCheckedLikeTheFirstUrl) {
  ServeText("/x", "secret");
  // The same server under another name, which is not listed.
  Serve("GET", "/inside", [this](const PlainCall&) {
    return PlainAnswer{.status = 302,
                       .more_headers = {{"location", "http://localhost:" +
                                                         std::to_string(server_.port()) + "/x"}}};
  });
  ServeStatuses("GET", "/file", {302}, {{"location", "file:///etc/hostname"}});
  ServeStatuses("GET", "/user", {302}, {{"location", "http://a:b@127.0.0.1/"}});
  Start();
  OutboundOptions options = Options();
  options.redirects_max = 5;
  const auto outbound = Make(options);
  EXPECT_EQ(outbound->Send({.url = Url("/inside")}).status().code(), Code::kPermissionDenied);
  EXPECT_EQ(outbound->Send({.url = Url("/file")}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(outbound->Send({.url = Url("/user")}).status().code(), Code::kInvalidArgument);
}

TEST_F(OutboundTest, RedirectsTurnAPostIntoAGetWhereBrowsersDo) {
  for (const int status : {301, 302, 303, 307, 308}) {
    ServeStatuses("POST", "/" + std::to_string(status), {status}, {{"location", "/x"}});
  }
  const auto tell = [](const PlainCall& call) {
    return PlainAnswer{.body = std::string(call.head().method()) + std::string(call.body())};
  };
  Serve("GET", "/x", tell);
  Serve("POST", "/x", tell);
  Start();
  OutboundOptions options = Options();
  options.redirects_max = 1;
  const auto outbound = Make(options);
  for (const auto& [status, expected] : std::map<int, std::string>{
           {301, "GET"}, {302, "GET"}, {303, "GET"}, {307, "POSTb"}, {308, "POSTb"}}) {
    EXPECT_EQ(outbound
                  ->Send({.method = "POST",
                          .url = Url("/" + std::to_string(status)),
                          .headers = {{"Content-Type", "text/plain"}},
                          .body = "b"})
                  ->body,
              expected)
        << status;
  }
}

TEST_F(OutboundTest, CredentialsStayWithTheirOrigin) {
  Serve("GET", "/x", [](const PlainCall& call) {
    return PlainAnswer{.body = std::string(call.head().Find("authorization").value_or("-")) +
                               std::string(call.head().Find("cookie").value_or("-")) +
                               std::string(call.head().Find("x-kept").value_or("-"))};
  });
  ServeStatuses("GET", "/same", {302}, {{"location", "/x"}});
  Serve("GET", "/other", [this](const PlainCall&) {
    return PlainAnswer{.status = 302,
                       .more_headers = {{"location", "http://localhost:" +
                                                         std::to_string(server_.port()) + "/x"}}};
  });
  Start();
  OutboundOptions options = Options();
  options.redirects_max = 1;
  options.private_hosts_allowed.push_back("localhost:" + std::to_string(server_.port()));
  const auto outbound = Make(options);
  const std::vector<std::pair<std::string, std::string>> headers = {
      {"Authorization", "a"}, {"Cookie", "c"}, {"X-Kept", "k"}};
  EXPECT_EQ(outbound->Send({.url = Url("/same"), .headers = headers})->body, "ack");
  EXPECT_EQ(outbound->Send({.url = Url("/other"), .headers = headers})->body, "--k");
}

TEST_F(OutboundTest, ProxiesOfTheEnvironmentAreIgnored) {
  ServeText("/x", "direct");
  Start();
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
  const Result<HttpResponse> response = Make(Options())->Send({.url = Url("/x")});
  unsetenv("http_proxy");
  unsetenv("ALL_PROXY");
  ASSERT_TRUE(response.ok()) << response.status().ToString();
  EXPECT_EQ(response->body, "direct");
}

TEST_F(OutboundTest, TheBreakerOpensAndClosesAgain) {
  ServeStatuses("GET", "/x", {500, 500, 500, 200});
  Start();
  FakeClock clock(0);
  OutboundOptions options = Options();
  options.attempts_max = 1;
  options.breaker_failures = 2;
  Outbound outbound(options, clock, random_, metrics_);
  Gauge& gauge = metrics_.GetGauge("hearth_outbound_breaker_state", "", {{"service", "test"}});
  EXPECT_EQ(outbound.Send({.url = Url("/x")})->status, 500);
  EXPECT_EQ(outbound.breaker_state(), Outbound::BreakerState::kClosed);
  EXPECT_EQ(outbound.Send({.url = Url("/x")})->status, 500);
  EXPECT_EQ(outbound.breaker_state(), Outbound::BreakerState::kOpen);
  EXPECT_EQ(gauge.value(), 1);
  EXPECT_EQ(outbound.Send({.url = Url("/x")}).status().code(), Code::kUnavailable);
  EXPECT_EQ(asked_, 2u);
  clock.Advance(options.breaker_open);
  EXPECT_EQ(outbound.Send({.url = Url("/x")})->status, 500);
  EXPECT_EQ(outbound.Send({.url = Url("/x")}).status().code(), Code::kUnavailable);
  clock.Advance(options.breaker_open);
  EXPECT_EQ(outbound.Send({.url = Url("/x")})->status, 200);
  EXPECT_EQ(outbound.breaker_state(), Outbound::BreakerState::kClosed);
  EXPECT_EQ(gauge.value(), 0);
}

TEST_F(OutboundTest, WhenTheBreakerOpensBetweenTriesTheLastAnswerCounts) {
  ServeStatuses("GET", "/x", {500});
  Start();
  OutboundOptions options = Options();
  options.breaker_failures = 2;
  EXPECT_EQ(Make(options)->Send({.url = Url("/x")})->status, 500);
  EXPECT_EQ(asked_, 2u);
}

// Advances a fake clock until `done` and returns by how much.
class Waiting : public OutboundTest {
 protected:
  milliseconds AdvanceUntil(const std::atomic<bool>& done) {
    milliseconds waited(0);
    // Much slower than waiters poll their clock.
    while (!done && waited < seconds(600)) {
      std::this_thread::yield();
      if (fake_clock_reads_.load() < 2) continue;
      fake_clock_reads_ = 0;
      fake_.Advance(seconds(1));
      waited += seconds(1);
    }
    return waited;
  }

  // Counts how often it is read, so that a test knows that a thread waits.
  class CountingClock final : public Clock {
   public:
    CountingClock(const FakeClock& clock, std::atomic<size_t>& reads)
        : clock_(clock), reads_(reads) {}
    int64_t WallMicros() const override { return clock_.WallMicros(); }
    std::chrono::steady_clock::time_point Monotonic() const override {
      ++reads_;
      return clock_.Monotonic();
    }

   private:
    const FakeClock& clock_;
    std::atomic<size_t>& reads_;
  };

  FakeClock fake_{1'790'000'000'000'000};
  std::atomic<size_t> fake_clock_reads_ = 0;
  CountingClock counting_{fake_, fake_clock_reads_};
};

TEST_F(Waiting, RetryAfterIsHonouredUpToTheLimit) {
  ServeStatuses("GET", "/seconds", {429, 200}, {{"retry-after", "7"}});
  ServeStatuses("GET", "/long", {503, 200}, {{"retry-after", "99999999999999999999"}});
  ServeStatuses("GET", "/date", {503, 200}, {{"retry-after", "Mon, 21 Sep 2026 14:13:40 GMT"}});
  ServeStatuses("GET", "/past", {503, 200}, {{"retry-after", "Mon, 21 Sep 2020 14:13:40 GMT"}});
  Start();
  OutboundOptions options = Options();
  options.backoff_max = seconds(30);
  const struct {
    const char* path;
    seconds least;
  } cases[] = {{"/seconds", seconds(7)},
               {"/long", seconds(30)},
               {"/date", seconds(20)},
               {"/past", seconds(0)}};
  for (const auto& each : cases) {
    fake_.SetWall(1'790'000'000'000'000);  // 14:13:20.
    Outbound outbound(options, counting_, random_, metrics_);
    std::atomic<bool> done = false;
    std::thread sending([&] {
      EXPECT_EQ(outbound.Send({.url = Url(each.path)})->status, 200) << each.path;
      done = true;
    });
    EXPECT_GE(AdvanceUntil(done), each.least) << each.path;
    sending.join();
  }
}

TEST_F(Waiting, PausesDoubleUpToTheLimitAndAreCutByHalfAtMost) {
  ServeStatuses("GET", "/x", {503});
  Start();
  OutboundOptions options = Options();
  options.backoff = seconds(20);
  options.backoff_max = seconds(30);
  Outbound outbound(options, counting_, random_, metrics_);
  std::atomic<bool> done = false;
  std::thread sending([&] {
    EXPECT_EQ(outbound.Send({.url = Url("/x")})->status, 503);
    done = true;
  });
  const milliseconds waited = AdvanceUntil(done);
  sending.join();
  EXPECT_GE(waited, seconds(10 + 15));
  // The clock also advances a little while requests are in progress.
  EXPECT_LE(waited, seconds(20 + 30 + 20));
}

TEST_F(Waiting, TheRateIsKept) {
  ServeText("/x", "1");
  Start();
  OutboundOptions options = Options();
  options.requests_per_second = 2;
  options.concurrent_max = 1;
  Outbound outbound(options, counting_, random_, metrics_);
  std::atomic<bool> done = false;
  std::thread sending([&] {
    const auto all = outbound.FetchAllJson(std::vector<std::string>(6, Url("/x")));
    for (const auto& each : all) EXPECT_TRUE(each.ok());
    done = true;
  });
  EXPECT_GE(AdvanceUntil(done), seconds(2));  // Two at once, then four at half a second each.
  sending.join();
}

TEST_F(OutboundTest, NoMoreThanSoManyAtATime) {
  ServeNothing("/x");
  Start();
  OutboundOptions options = Options();
  options.concurrent_max = 3;
  options.attempts_max = 1;
  const auto outbound = Make(options);
  std::vector<std::thread> threads;
  std::atomic<size_t> good = 0;
  for (int i = 0; i < 9; ++i) {
    threads.emplace_back([&] {
      const Result<HttpResponse> response = outbound->Send({.url = Url("/x")});
      if (response.ok() && response->status == 200) ++good;
    });
  }
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(held_.WaitFor([](const auto& calls) { return calls.size() >= 3; }));
    std::vector<std::shared_ptr<PlainCall>> calls;
    held_.Update([&calls](auto& held) { calls = std::exchange(held, {}); });
    EXPECT_EQ(calls.size(), 3u);
    for (const auto& call : calls) call->Respond({});
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 9u);
}

TEST_F(OutboundTest, StopEndsTransfersAndThoseWhoWaitForASlot) {
  ServeNothing("/x");
  Start();
  OutboundOptions options = Options();
  options.concurrent_max = 2;
  options.timeout = seconds(600);
  const auto outbound = Make(options);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&] { EXPECT_EQ(outbound->Send({.url = Url("/x")}).status().code(), Code::kCancelled); });
  }
  ASSERT_TRUE(held_.WaitFor([](const auto& calls) { return calls.size() == 2; }));
  outbound->Stop();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(outbound->Send({.url = Url("/x")}).status().code(), Code::kCancelled);
  EXPECT_EQ(outbound->FetchAllJson({Url("/x")})[0].status().code(), Code::kCancelled);
}

TEST_F(OutboundTest, StopEndsPausesAndWaitsForTheRate) {
  ServeStatuses("GET", "/x", {503});
  Start();
  FakeClock stands_still(0);
  OutboundOptions options = Options();
  options.backoff = options.backoff_max = seconds(600);
  Outbound pausing(options, stands_still, random_, metrics_);
  std::thread first(
      [&] { EXPECT_EQ(pausing.Send({.url = Url("/x")}).status().code(), Code::kCancelled); });
  options.requests_per_second = 0.001;
  options.attempts_max = 1;
  Outbound limited(options, stands_still, random_, metrics_);
  EXPECT_EQ(limited.Send({.url = Url("/x")})->status, 503);
  std::thread second(
      [&] { EXPECT_EQ(limited.Send({.url = Url("/x")}).status().code(), Code::kCancelled); });
  while (asked_ < 2) std::this_thread::yield();
  pausing.Stop();
  limited.Stop();
  first.join();
  second.join();
}

TEST_F(OutboundTest, ConnectionsAreUsedAgain) {
  ServeText("/x", "1");
  Start();
  const auto outbound = Make(Options());
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(outbound->Send({.url = Url("/x")}).ok());
  EXPECT_EQ(server_.server->connection_count(), 1u);
}

}  // namespace
}  // namespace hearth::kit
