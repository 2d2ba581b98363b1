// Applications over real sockets.
#include "kit/web/app_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "http/gzip.h"
#include "http/testing/test_http2_client.h"
#include "http/testing/test_server.h"
#include "http/testing/test_socket.h"
#include "kit/web/events.h"

namespace hearth::kit {
namespace {

using http::TestSocket;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr Asset kAssets[] = {
    {.path = "index.html",
     .content_type = "text/html; charset=utf-8",
     .etag = "\"abc\"",
     .content = "<p>hello</p>",
     .gzip = "compressed"},
    {.path = "dot.png", .content_type = "image/png", .etag = "\"d\"", .content = "P", .gzip = ""},
};

// Ten images of 5 MiB, plus overhead.
constexpr size_t kUploadBytesMax = 52 * 1024 * 1024;

class AppServiceTest : public testing::Test {
 protected:
  ~AppServiceTest() override {
    // As at the end of a process: first the server, then the handlers.
    if (server_.server) server_.server->Drain(std::chrono::seconds(20));
    release_.set_value();
  }

  void Start(AppServiceOptions options = {.name = "test", .prefix = "/apps/test"}) {
    AddRoutes();
    prefix_ = options.prefix;
    service_.emplace(std::move(options), routes_, clock_, metrics_);
    server_.router.AddService(prefix_, *service_);
    server_.options.origins.AddPages("/apps/");
    server_.Start();
  }

  // The whole response to one request, on its own connection.
  std::string Ask(std::string_view method, const std::string& path, const std::string& headers = "",
                  const std::string& body = "") {
    TestSocket socket(server_.port());
    socket.Send(Request(method, path, headers, body));
    return socket.ReadToEnd();
  }
  std::string Request(std::string_view method, const std::string& path, const std::string& headers,
                      const std::string& body) const {
    return std::string(method) + " " + prefix_ + path + " HTTP/1.1\r\nHost: localhost:1\r\n" +
           "Connection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           headers + "\r\n" + body;
  }

  void AddRoutes() {
    routes_.AddAssets(kAssets);
    routes_.Add("GET", "/items/:id", [](const kit::Request& request) {
      return Response::Json({{"id", request.Parameter("id")},
                             {"q", request.Query("q").value_or("")},
                             {"cookie", request.Cookie("c").value_or("")},
                             {"peer", request.peer()}});
    });
    routes_.Add("POST", "/items", [](const kit::Request& request) {
      Response response = Response::Json({{"size", request.body().size()}}, 201);
      response.headers.push_back(SetCookie("c", "1", {}));
      return response;
    });
    routes_.Add("POST", "/uploads",
                [](const kit::Request& request) {
                  return Response::Json({{"size", request.body().size()}}, 201);
                },
                {.body_bytes_max = kUploadBytesMax});
    routes_.Add("GET", "/large", [](const kit::Request& request) {
      const std::string size = request.Query("size").value_or("0");
      Response response{.content_type = "application/json",
                        .body = std::string(std::stoul(size), ' ')};
      response.headers.emplace_back("etag", "\"large\"");
      return response;
    });
    routes_.Add("GET", "/throws",
                [](const kit::Request&) -> Response { throw std::runtime_error("secret"); });
    routes_.Add("GET", "/split", [](const kit::Request& request) {
      return Response::Redirect(request.Query("to").value_or(""));
    });
    routes_.Add("GET", "/waits", [this](const kit::Request&) {
      waiting_.Update([](int& count) { ++count; });
      released_.wait();
      return Response{.body = "waited"};
    });
    for (const auto& [path, work] :
         {std::pair("/sign-in", Work::kSignIn), std::pair("/pictures", Work::kUpload)}) {
      routes_.Add("POST", path,
                  [this](const kit::Request&) {
                    waiting_.Update([](int& count) { ++count; });
                    released_.wait();
                    return Response{.body = "waited"};
                  },
                  {.work = work});
    }
    routes_.Add("GET", "/events",
                [this](const kit::Request&) { return Response::Events(events_); });
  }

  SystemClock clock_;
  Metrics metrics_;
  Routes routes_;
  std::shared_ptr<EventChannel> events_ = std::make_shared<EventChannel>();
  http::Watched<int> waiting_{0};
  std::promise<void> release_;
  std::shared_future<void> released_ = release_.get_future().share();
  std::string prefix_;
  std::optional<AppService> service_;
  http::TestServer server_;  // After the service, which must outlive it.
};

TEST_F(AppServiceTest, ParametersQueriesCookiesAndPeer) {
  Start();
  const std::string answer = Ask("GET", "/items/a%20b?q=x+y", "Cookie: c=7\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("content-type: application/json; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("cache-control: no-store\r\n"));
  EXPECT_THAT(answer, HasSubstr("x-content-type-options: nosniff\r\n"));
  EXPECT_THAT(answer, HasSubstr("content-security-policy: default-src 'self';"));
  EXPECT_THAT(answer, HasSubstr("referrer-policy: same-origin\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n{\"cookie\":\"7\",\"id\":\"a b\",\"peer\":\"127.0.0.1\","
                               "\"q\":\"x y\"}\n"));
}

TEST_F(AppServiceTest, PostsSetCookies) {
  Start();
  const std::string answer = Ask("POST", "/items", "", "12345");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 201 Created\r\n"));
  EXPECT_THAT(answer, HasSubstr("set-cookie: c=1; Path=/; HttpOnly; SameSite=Strict\r\n"));
  EXPECT_THAT(answer, EndsWith("{\"size\":5}\n"));
}

TEST_F(AppServiceTest, TheRootWithoutSlashIsElsewhere) {
  Start();
  const std::string answer = Ask("GET", "?a=b");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 307 "));
  EXPECT_THAT(answer, HasSubstr("location: /apps/test/?a=b\r\n"));
  EXPECT_THAT(Ask("GET", "ing/items/1"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(AppServiceTest, AnApplicationMayHaveThePortToItself) {
  Start({.name = "test"});
  EXPECT_THAT(Ask("GET", "/items/1"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask("GET", "/"), EndsWith("<p>hello</p>"));
}

TEST_F(AppServiceTest, UnknownPathsAndMethods) {
  Start();
  EXPECT_THAT(Ask("GET", "/nothing"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask("GET", "/nothing"), EndsWith("{\"error\":\"not found\"}\n"));
  const std::string refused = Ask("DELETE", "/items/1");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(refused, HasSubstr("allow: GET\r\n"));
  EXPECT_THAT(Ask("GET", "/items/%zz"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(AppServiceTest, BodiesAreBounded) {
  Start({.name = "test", .body_bytes_max = 1'000});
  EXPECT_THAT(Ask("POST", "/items", "", std::string(1'000, 'x')), StartsWith("HTTP/1.1 201 "));
  const std::string refused = Ask("POST", "/items", "", std::string(1'001, 'x'));
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(refused, EndsWith("{\"error\":\"the request body is larger than 1000 bytes\"}\n"));
}

TEST_F(AppServiceTest, ARouteMayTakeLargerBodiesThanTheOthers) {
  Start();
  const std::string largest(kUploadBytesMax, 'x');
  EXPECT_THAT(Ask("POST", "/uploads", "", largest), EndsWith("{\"size\":54525952}\n"));
  http::TestHttp2Client client(server_.port());
  const int32_t stream = client.Open("POST", "/apps/test/uploads", {});
  constexpr size_t kPieceBytes = 1024 * 1024;
  for (size_t sent = 0; sent < kUploadBytesMax; sent += kPieceBytes) {
    client.SendBody(stream, std::string_view(largest).substr(sent, kPieceBytes));
    ASSERT_TRUE(client.RoundTrip());  // The server has read some of it, and sent its window.
  }
  client.EndBody(stream);
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_EQ(client.answer(stream).body, "{\"size\":54525952}\n");
  EXPECT_THAT(Ask("POST", "/items", "", std::string(1024 * 1024 + 1, 'x')),
              StartsWith("HTTP/1.1 413 "));
}

TEST_F(AppServiceTest, AnAnnouncedLengthBeyondTheLimitIsRefusedBeforeTheBodyComes) {
  Start();
  const std::string too_long = std::to_string(kUploadBytesMax + 1);
  TestSocket socket(server_.port());
  socket.Send("POST /apps/test/uploads HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n" +
              ("Content-Length: " + too_long) + "\r\n\r\n");
  const std::string answer = socket.ReadToEnd();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(answer, EndsWith("{\"error\":\"the request body is larger than 54525952 bytes\"}\n"));

  http::TestHttp2Client client(server_.port());
  const int32_t stream = client.Open("POST", "/apps/test/uploads", {{"content-length", too_long}});
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_EQ(client.answer(stream).http_status(), 413);
  EXPECT_EQ(client.answer(stream).error_code, 0u);
}

TEST_F(AppServiceTest, ALengthThatIsNotAnnouncedIsCounted) {
  Start({.name = "test", .prefix = "/apps/test", .body_bytes_max = 1'000});
  http::TestHttp2Client client(server_.port());
  const int32_t stream = client.Open("POST", "/apps/test/items", {});
  client.SendBody(stream, std::string(1'001, 'x'));
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_EQ(client.answer(stream).http_status(), 413);
}

TEST_F(AppServiceTest, AllBodiesTogetherAreBounded) {
  Start({.name = "test", .prefix = "/apps/test", .all_bodies_bytes_max = 1'000});
  const std::string body(500, 'x');
  http::TestHttp2Client first(server_.port());
  const int32_t unfinished = first.Open("POST", "/apps/test/items", {});
  first.SendBody(unfinished, body);
  ASSERT_TRUE(first.RoundTrip());

  const std::string refused = Ask("POST", "/items", "", body + "x");  // On its own connection.
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(refused, HasSubstr("too many large requests at the same time"));
  // Cancelled and answered requests no longer count.
  first.Reset(unfinished);
  ASSERT_TRUE(first.RoundTrip());
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Ask("POST", "/items", "", body), StartsWith("HTTP/1.1 201 "));
  }
}

TEST_F(AppServiceTest, MoreThanThreadsAndQueueHoldIsRefused) {
  Start({.name = "test", .threads = 1, .queued_requests_max = 1});
  TestSocket running(server_.port());
  running.Send(Request("GET", "/waits", "", ""));
  ASSERT_TRUE(waiting_.WaitFor([](int count) { return count == 1; }));
  TestSocket first(server_.port());
  TestSocket second(server_.port());
  first.Send(Request("GET", "/waits", "", ""));
  second.Send(Request("GET", "/waits", "", ""));
  // One is queued; the other is refused at once.
  while (!first.readable() && !second.readable()) std::this_thread::yield();
  TestSocket& refused = first.readable() ? first : second;
  TestSocket& queued = first.readable() ? second : first;
  const std::string answer = refused.ReadToEnd();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("retry-after: 1\r\n"));
  EXPECT_THAT(Ask("GET", "/dot.png"), StartsWith("HTTP/1.1 200 "));  // Needs no thread.
  release_.set_value();
  release_ = {};
  EXPECT_THAT(running.ReadToEnd(), EndsWith("waited"));
  EXPECT_THAT(queued.ReadToEnd(), EndsWith("waited"));
}

TEST_F(AppServiceTest, PagesDoNotWaitForExpensiveWork) {
  Start({.name = "test",
         .threads = 1,
         .sign_ins = LaneOptions::Of(2, 8),
         .uploads = LaneOptions::Of(1, 4)});
  http::TestHttp2Client greedy(server_.port());
  std::vector<int32_t> streams;
  for (const char* path : {"/sign-in", "/sign-in", "/sign-in", "/pictures", "/pictures"}) {
    streams.push_back(greedy.Open("POST", path, {}));
    greedy.EndBody(streams.back());
  }
  ASSERT_TRUE(greedy.RoundTrip());
  // One thread for sign-ins remains for other clients.
  ASSERT_TRUE(waiting_.WaitFor([](int count) { return count == 2; }));
  EXPECT_THAT(Ask("GET", "/items/1"), StartsWith("HTTP/1.1 200 "));
  TestSocket other(server_.port());  // From the same address.
  other.Send(Request("POST", "/sign-in", "", ""));
  ASSERT_TRUE(waiting_.WaitFor([](int count) { return count == 3; }));
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("hearth_app_queued_requests{app=\"test\",work=\"sign_in\"} 2\n"));
  release_.set_value();
  release_ = {};
  EXPECT_THAT(other.ReadToEnd(), EndsWith("waited"));
  for (const int32_t stream : streams) {
    ASSERT_TRUE(greedy.UntilClosed(stream));
    EXPECT_EQ(greedy.answer(stream).body, "waited");
  }
}

TEST_F(AppServiceTest, AClientThatUsedItsShareOfTheQueueIsToldSo) {
  Start({.name = "test", .threads = 1, .queued_requests_max = 2});
  http::TestHttp2Client greedy(server_.port());
  const int32_t running = greedy.Open("GET", "/waits", {});
  greedy.Flush();
  ASSERT_TRUE(waiting_.WaitFor([](int count) { return count == 1; }));
  const int32_t queued = greedy.Open("GET", "/waits", {});
  const int32_t refused = greedy.Open("GET", "/waits", {});
  ASSERT_TRUE(greedy.UntilClosed(refused));
  EXPECT_EQ(greedy.answer(refused).http_status(), 429);
  EXPECT_EQ(greedy.answer(refused).headers.at("retry-after"), "1");
  EXPECT_THAT(greedy.answer(refused).body, HasSubstr("too many of your requests are waiting"));
  // The other half of the queue is for others, also from the same address.
  TestSocket other(server_.port());
  other.Send(Request("GET", "/waits", "", ""));
  release_.set_value();
  release_ = {};
  EXPECT_THAT(other.ReadToEnd(), EndsWith("waited"));
  for (const int32_t stream : {running, queued}) {
    ASSERT_TRUE(greedy.UntilClosed(stream));
    EXPECT_EQ(greedy.answer(stream).body, "waited");
  }
}

TEST_F(AppServiceTest, AClientCannotUseAllMemoryForBodies) {
  Start({.name = "test", .prefix = "/apps/test", .all_bodies_bytes_max = 1'000});
  http::TestHttp2Client greedy(server_.port());
  const int32_t unfinished = greedy.Open("POST", "/apps/test/items", {});
  greedy.SendBody(unfinished, std::string(500, 'x'));
  ASSERT_TRUE(greedy.RoundTrip());
  const int32_t refused = greedy.Open("POST", "/apps/test/items", {});
  greedy.SendBody(refused, "x");
  ASSERT_TRUE(greedy.UntilClosed(refused));
  EXPECT_EQ(greedy.answer(refused).http_status(), 429);
  EXPECT_EQ(greedy.answer(refused).headers.at("retry-after"), "1");
  // Others have the rest, also from the same address, but each leaves as much as it takes.
  EXPECT_THAT(Ask("POST", "/items", "", std::string(250, 'x')), StartsWith("HTTP/1.1 201 "));
  EXPECT_THAT(Ask("POST", "/items", "", std::string(251, 'x')), StartsWith("HTTP/1.1 429 "));
  greedy.Reset(unfinished);
  ASSERT_TRUE(greedy.RoundTrip());
  EXPECT_THAT(Ask("POST", "/items", "", std::string(500, 'x')), StartsWith("HTTP/1.1 201 "));
}

TEST_F(AppServiceTest, BodiesThatWaitForAHandlerCountAsMemory) {
  MemoryBudget memory(1'000'000);
  Start({.name = "test", .memory = &memory});
  TestSocket socket(server_.port());
  socket.Send(Request("POST", "/sign-in", "", std::string(10'000, 'x')));
  ASSERT_TRUE(waiting_.WaitFor([](int count) { return count == 1; }));
  EXPECT_EQ(memory.used_bytes(), 10'000u);
  release_.set_value();
  release_ = {};
  EXPECT_THAT(socket.ReadToEnd(), EndsWith("waited"));
  EXPECT_EQ(memory.used_bytes(), 0u);
  server_.server->Drain(std::chrono::seconds(20));
  service_.reset();  // Before the budget.
}

TEST_F(AppServiceTest, AClientThatLeavesDoesNoHarm) {
  Start({.name = "test", .threads = 1});
  {
    TestSocket gone(server_.port());
    gone.Send(Request("GET", "/waits", "", ""));
    ASSERT_TRUE(waiting_.WaitFor([](int count) { return count == 1; }));
  }
  release_.set_value();
  release_ = {};
  EXPECT_THAT(Ask("GET", "/items/1"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(AppServiceTest, AHandlerThatThrowsIsA500) {
  Start();
  testing::internal::CaptureStderr();
  const std::string answer = Ask("GET", "/throws");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("secret"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(answer, Not(HasSubstr("secret")));
}

TEST_F(AppServiceTest, AHeaderCannotBeSplit) {
  Start();
  const std::string answer = Ask("GET", "/split?to=/a%0d%0aset-cookie:%20x=y");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(answer, Not(HasSubstr("x=y")));
}

TEST_F(AppServiceTest, LargeAnswersAreCompressedWhereTheClientTakesIt) {
  Start();
  const std::string gzip = "Accept-Encoding: br, gzip\r\n";
  const std::string compressed = Ask("GET", "/large?size=1024", gzip);
  EXPECT_THAT(compressed, HasSubstr("content-encoding: gzip\r\n"));
  EXPECT_THAT(compressed, HasSubstr("vary: accept-encoding\r\n"));
  EXPECT_THAT(compressed, HasSubstr("etag: W/\"large\"\r\n"));
  const std::string body = compressed.substr(compressed.find("\r\n\r\n") + 4);
  EXPECT_EQ(*http::Gunzip(body, 1 << 20), std::string(1024, ' '));

  EXPECT_THAT(Ask("GET", "/large?size=1023", gzip), Not(HasSubstr("content-encoding")));
  const std::string plain = Ask("GET", "/large?size=1024");
  EXPECT_THAT(plain, Not(HasSubstr("content-encoding")));
  EXPECT_THAT(plain, HasSubstr("vary: accept-encoding\r\n"));
  EXPECT_THAT(plain, HasSubstr("etag: \"large\"\r\n"));
}

TEST_F(AppServiceTest, WhatTheClientHasIsNotSentAgain) {
  Start();
  for (const std::string path : {"/large?size=5000", "/large?size=1"}) {
    const std::string answer =
        Ask("GET", path, "Accept-Encoding: gzip\r\nIf-None-Match: W/\"large\"\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 304 "));
    EXPECT_THAT(answer, HasSubstr("cache-control: private, no-cache\r\n"));
    EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
  }
  EXPECT_THAT(Ask("GET", "/large?size=1", "If-None-Match: \"other\"\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask("GET", "/", "If-None-Match: \"abc\"\r\n"), StartsWith("HTTP/1.1 304 "));
}

TEST_F(AppServiceTest, FilesAreSentAsTheyAreOrCompressed) {
  Start();
  const std::string plain = Ask("GET", "/");
  EXPECT_THAT(plain, HasSubstr("etag: \"abc\"\r\n"));
  EXPECT_THAT(plain, HasSubstr("cache-control: no-cache\r\n"));
  EXPECT_THAT(plain, HasSubstr("content-type: text/html; charset=utf-8\r\n"));
  EXPECT_THAT(plain, EndsWith("\r\n\r\n<p>hello</p>"));
  const std::string compressed = Ask("GET", "/index.html", "Accept-Encoding: gzip\r\n");
  EXPECT_THAT(compressed, HasSubstr("content-encoding: gzip\r\n"));
  EXPECT_THAT(compressed, EndsWith("\r\n\r\ncompressed"));
  EXPECT_THAT(Ask("GET", "/dot.png", "Accept-Encoding: gzip\r\n"), EndsWith("\r\n\r\nP"));
}

TEST_F(AppServiceTest, HeadHasTheHeadersAndNoBody) {
  Start();
  const std::string page = Ask("HEAD", "/");
  EXPECT_THAT(page, HasSubstr("content-length: 12\r\n"));
  EXPECT_THAT(page, EndsWith("\r\n\r\n"));
  const std::string item = Ask("HEAD", "/items/1");
  EXPECT_THAT(item, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(item, HasSubstr("content-length: "));
  EXPECT_THAT(item, EndsWith("\r\n\r\n"));
}

TEST_F(AppServiceTest, PagesOfOtherSitesCannotAct) {
  Start();
  // The server lets pages of other local ports in, for SDKs; applications do not.
  for (const char* origin : {"http://evil.example", "http://localhost:2", "http://localhost"}) {
    EXPECT_THAT(Ask("POST", "/items", "Origin: " + std::string(origin) + "\r\n"),
                StartsWith("HTTP/1.1 403 "))
        << origin;
  }
  EXPECT_THAT(Ask("POST", "/items", "Sec-Fetch-Site: cross-site\r\n"), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(
      Ask("POST", "/items", "Origin: http://localhost:1\r\nSec-Fetch-Site: same-origin\r\n"),
      StartsWith("HTTP/1.1 201 "));
  // Links from other sites may be followed.
  EXPECT_THAT(Ask("GET", "/items/1",
                  "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"
                  "Sec-Fetch-Dest: document\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Ask("GET", "/items/1", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"),
              StartsWith("HTTP/1.1 403 "));
}

TEST_F(AppServiceTest, RequestsAreCountedByRoute) {
  Start();
  Ask("GET", "/items/1");
  Ask("HEAD", "/items/2");
  Ask("GET", "/anything");
  Ask("BREW", "/anything");
  const std::string text = metrics_.Text();
  EXPECT_THAT(text, HasSubstr("hearth_app_requests_total{app=\"test\",method=\"GET\","
                              "route=\"/items/:id\",status=\"200\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("hearth_app_requests_total{app=\"test\",method=\"\","
                              "route=\"other\",status=\"404\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("hearth_app_request_seconds_count{app=\"test\",method=\"GET\","
                              "route=\"/items/:id\"} 2\n"));
}

TEST_F(AppServiceTest, Http2) {
  Start();
  http::TestHttp2Client client(server_.port());
  const http::TestAnswer answer = client.Get("/apps/test/items/1");
  EXPECT_EQ(answer.http_status(), 200);
  EXPECT_THAT(answer.body, HasSubstr("\"peer\":\"127.0.0.1\""));
}

TEST_F(AppServiceTest, EventsGoOnWhereTheClientStopped) {
  Start();
  events_->Publish("n", 1);
  events_->Publish("n", 2);
  TestSocket first(server_.port());
  first.Send(Request("GET", "/events", "", ""));
  EXPECT_THAT(first.ReadUntil("\r\n\r\n"), HasSubstr("content-type: text/event-stream\r\n"));
  EXPECT_THAT(first.ReadUntil("data: 2\n\n"), HasSubstr("id: 1\nevent: n\ndata: 1\n\n"));
  events_->Publish("n", 3);
  EXPECT_THAT(first.ReadUntil("data: 3\n\n"), HasSubstr("id: 3\n"));
  first.Close();

  TestSocket second(server_.port());
  second.Send(Request("GET", "/events", "Last-Event-ID: 2\r\n", ""));
  EXPECT_THAT(second.ReadUntil("data: 3\n\n"), Not(HasSubstr("data: 2")));
  events_->Publish("n", 4);
  events_->Close();
  EXPECT_THAT(second.ReadToEnd(), HasSubstr("data: 4\n\n"));
  // Nothing more will come: the client is told not to reconnect.
  EXPECT_THAT(Ask("GET", "/events", "Last-Event-ID: 4\r\n"), StartsWith("HTTP/1.1 204 "));
}

TEST_F(AppServiceTest, SilenceIsKeptAliveAndAClientThatLeavesIsForgotten) {
  Start({.name = "test", .event_keep_alive = std::chrono::milliseconds(1)});
  {
    TestSocket socket(server_.port());
    socket.Send(Request("GET", "/events", "", ""));
    EXPECT_NE(socket.ReadUntil(": still here\n\n"), "");
    EXPECT_NE(socket.ReadUntil(": still here\n\n"), "");
    EXPECT_EQ(events_->subscriber_count(), 1u);
  }
  while (events_->subscriber_count() > 0) std::this_thread::yield();
}

TEST_F(AppServiceTest, AReaderThatIsTooSlowIsCutOff) {
  Start();
  TestSocket socket(server_.port(), 4'096);
  socket.Send(Request("GET", "/events", "", ""));
  socket.ReadUntil("\r\n\r\n");
  const std::string data(32 * 1024, 'x');
  // Nobody reads: the kernel's buffers fill, then the exchange's, then the channel drops events.
  while (events_->subscriber_count() > 0) events_->Publish("n", data);
  const std::string rest = socket.ReadToEnd();
  EXPECT_THAT(rest, Not(EndsWith("0\r\n\r\n")));  // The client can tell that this is not the end.
}

TEST_F(AppServiceTest, EventsEndWhenTheServerDoes) {
  Start();
  TestSocket socket(server_.port());
  socket.Send(Request("GET", "/events", "", ""));
  socket.ReadUntil("\r\n\r\n");
  EXPECT_TRUE(server_.server->Drain(std::chrono::seconds(20)));
  EXPECT_THAT(socket.ReadToEnd(), EndsWith("0\r\n\r\n"));
}

TEST_F(AppServiceTest, EventsAreBoundedByTheirChannel) {
  Start();
  for (size_t i = 0; i < EventChannel::kSubscribersMax; ++i) {
    ASSERT_TRUE(events_->Subscribe([] {}));
  }
  EXPECT_THAT(Ask("GET", "/events"), StartsWith("HTTP/1.1 503 "));
}

}  // namespace
}  // namespace hearth::kit
