#include "http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "http/testing/endless_service.h"
#include "http/testing/test_http2_client.h"
#include "http/testing/test_server.h"
#include "http/testing/test_socket.h"

namespace hearth::http {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Whether a connection to `port` is served, rather than closed immediately.
bool IsServed(TestSocket& socket) {
  socket.Send("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  return socket.ReadUntil("not found\n").find("404") != std::string::npos;
}

TEST(ServerTest, ListensOnSeveralAddresses) {
  TestServer test;
  test.options.listen = {{.host = "127.0.0.1"}, {.host = "localhost"}};
  test.Start();
  ASSERT_EQ(test.server->addresses().size(), 2u);
  for (const ListenAddress& address : test.server->addresses()) {
    EXPECT_NE(address.port, 0);
    TestSocket socket(address.port);
    EXPECT_TRUE(IsServed(socket));
  }
}

// Answers with the client's address.
class PeerService final : public Service {
 public:
  std::shared_ptr<ExchangeHandler> Open(Exchange& exchange) override {
    AnswerPlain(exchange, {.body = exchange.peer()});
    return nullptr;
  }
};

TEST(ServerTest, KnowsWhereAClientComesFrom) {
  PeerService peer;
  TestServer test;
  test.router.AddExactService("/peer", peer);
  // A dual-stack socket, if this machine supports it: there IPv4 appears as "::ffff:127.0.0.1".
  test.options.listen.push_back({.host = "::"});
  if (!Server(test.options, test.router).Start().ok()) test.options.listen.pop_back();
  test.Start();
  for (const ListenAddress& address : test.server->addresses()) {
    SCOPED_TRACE(address.host);
    TestSocket socket(address.port);
    socket.Send("GET /peer HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    EXPECT_THAT(socket.ReadToEnd(), testing::EndsWith("\r\n\r\n127.0.0.1"));
    TestHttp2Client client(address.port);
    EXPECT_EQ(client.Get("/peer").body, "127.0.0.1");
    EXPECT_EQ(client.Get("/peer/below").http_status(), 404);
  }
}

TEST(ServerTest, NamesTheAddressThatIsTaken) {
  TestServer first;
  first.Start();
  Router router;
  Server second({.listen = {{.host = "127.0.0.1"}, {.host = "127.0.0.1", .port = first.port()}}},
                router);
  const Status status = second.Start();
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_EQ(status.message(), "cannot listen on 127.0.0.1:" + std::to_string(first.port()) +
                                  ": Address already in use");
  EXPECT_TRUE(second.addresses().empty());
}

TEST(ServerTest, NamesTheAddressThatIsNone) {
  Router router;
  Server server({.listen = {{.host = "256.0.0.1", .port = 80}}}, router);
  const Status status = server.Start();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("256.0.0.1:80"));
}

TEST(ServerTest, NamesAnAddressOfAnotherMachine) {
  Router router;
  Server server({.listen = {{.host = "192.0.2.1", .port = 0}}}, router);  // RFC 5737.
  const Status status = server.Start();
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("192.0.2.1"));
}

TEST(ServerTest, BothSidesOfTheConnectionLimit) {
  TestServer test;
  test.options.connections_max = 2;
  test.Start();
  TestSocket first(test.port());
  ASSERT_TRUE(IsServed(first));
  {
    TestSocket second(test.port());
    ASSERT_TRUE(IsServed(second));
    EXPECT_EQ(test.server->connection_count(), 2u);
    TestSocket third(test.port());
    EXPECT_EQ(third.ReadToEnd(), "");
  }
  // The second one's slot becomes free once the server has read its end.
  bool served = false;
  for (int attempt = 0; attempt < 10'000 && !served; ++attempt) {
    TestSocket again(test.port());
    served = IsServed(again);
  }
  EXPECT_TRUE(served);
  EXPECT_TRUE(IsServed(first));
}

// One address is one client, unless it is this machine's own.
TEST(ServerTest, AnAddressGetsItsShareOfTheConnections) {
  TestServer test;
  test.options.connections_max = 32;
  test.options.replaceable_after = std::chrono::milliseconds(0);
  test.Start();
  std::deque<TestSocket> greedy;
  for (int i = 0; i < 16; ++i) {
    EXPECT_TRUE(IsServed(greedy.emplace_back(test.port(), "127.0.0.2"))) << i;
  }
  EXPECT_FALSE(IsServed(greedy.emplace_back(test.port(), "127.0.0.2")));
  TestSocket other(test.port(), "127.0.0.3");
  TestSocket local(test.port());
  TestSocket local_too(test.port());
  for (TestSocket* socket : {&other, &local, &local_too}) EXPECT_TRUE(IsServed(*socket));
  // None of its idle ones had to go.
  EXPECT_TRUE(IsServed(greedy.front()));
}

TEST(ServerTest, ANewConnectionTakesThePlaceOfTheOneIdleLongest) {
  EndlessService busy;
  TestServer test;
  test.options.loops = 2;
  test.options.connections_max = 2;
  test.options.replaceable_after = std::chrono::milliseconds(0);
  test.router.AddService("/endless", busy);
  test.Start();
  TestSocket working(test.port());
  working.Send("GET /endless HTTP/1.1\r\nhost: localhost\r\n\r\n");
  ASSERT_THAT(working.ReadUntil("\r\n\r\n"), HasSubstr("200"));
  TestSocket idle(test.port());
  ASSERT_TRUE(IsServed(idle));
  std::deque<TestSocket> later;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(IsServed(later.emplace_back(test.port())));
  EXPECT_EQ(idle.ReadToEnd(), "");
  EXPECT_EQ(later.front().ReadToEnd(), "");
  EXPECT_TRUE(IsServed(later.back()));
  EXPECT_THAT(working.ReadUntil("\r\n"), HasSubstr("2710"));
  working.Close();
}

TEST(ServerTest, CountsConnectionsAndRequests) {
  Metrics metrics;
  TestServer test;
  test.options.metrics = &metrics;
  test.options.connections_max = 2;
  test.Start();
  EXPECT_THAT(metrics.Text(), HasSubstr("\nhearth_http_connections 0\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("\nhearth_http_refused_connections_total 0\n"));
  for (const char* protocol : {"http1", "http2", "grpc"}) {
    EXPECT_THAT(metrics.Text(), HasSubstr("hearth_http_requests_total{protocol=\"" +
                                          std::string(protocol) + "\"} 0\n"));
  }
  TestSocket http1(test.port());
  ASSERT_TRUE(IsServed(http1));
  TestHttp2Client http2(test.port());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(http2.Get("/").http_status(), 404);
  for (const char* type : {"application/grpc", "application/grpc+proto", "application/grpc-web"}) {
    const int32_t stream = http2.Open("POST", "/", {{"content-type", type}});
    http2.EndBody(stream);
    ASSERT_TRUE(http2.UntilClosed(stream));
    EXPECT_EQ(http2.answer(stream).http_status(), 404);
  }
  TestSocket third(test.port());
  EXPECT_EQ(third.ReadToEnd(), "");
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("\nhearth_http_connections 2\n"));
  EXPECT_THAT(text, HasSubstr("\nhearth_http_refused_connections_total 1\n"));
  EXPECT_THAT(text, HasSubstr("hearth_http_requests_total{protocol=\"http1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("hearth_http_requests_total{protocol=\"http2\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("hearth_http_requests_total{protocol=\"grpc\"} 3\n"));
  test.server.reset();
  EXPECT_THAT(metrics.Text(), testing::Not(HasSubstr("hearth_http_connections")));
}

TEST(ServerTest, SpreadsConnectionsOverTheLoops) {
  TestServer test;
  test.options.loops = 3;
  test.router.AddPlain("GET", "/thread", [](std::shared_ptr<PlainCall> call) {
    const auto id = std::hash<std::thread::id>()(std::this_thread::get_id());
    call->Respond({.body = std::to_string(id)});
  });
  test.Start();
  std::set<std::string> threads;
  for (int i = 0; i < 3; ++i) {
    TestHttp2Client client(test.port());
    threads.insert(client.Get("/thread").body);
  }
  EXPECT_EQ(threads.size(), 3u);
}

TEST(ServerTest, APlainCallEndsWithItsAnswerOrItsClient) {
  TestServer test;
  Watched<std::shared_ptr<PlainCall>> held;
  test.router.AddPlain("GET", "/held", [&held](const std::shared_ptr<PlainCall>& call) {
    held.Update([&](auto& value) { value = call; });
  });
  test.Start();
  const auto take = [&held] {
    EXPECT_TRUE(held.WaitFor([](const auto& value) { return value != nullptr; }));
    std::shared_ptr<PlainCall> call;
    held.Update([&](auto& value) { call = std::move(value); });
    return call;
  };
  const auto expect_end = [&](const std::shared_ptr<PlainCall>& call, const auto& cause) {
    EXPECT_FALSE(call->end_token().stop_requested());
    Watched<bool> ended;
    const std::stop_callback on_end(call->end_token(),
                                    [&] { ended.Update([](bool& value) { value = true; }); });
    cause();
    EXPECT_TRUE(ended.WaitFor([](bool value) { return value; }));
  };
  for (const char* end : {"answer", "client"}) {
    SCOPED_TRACE(end);
    TestSocket socket(test.port());
    socket.Send("GET /held HTTP/1.1\r\nhost: localhost\r\n\r\n");
    const std::shared_ptr<PlainCall> call = take();
    expect_end(call, [&] { *end == 'a' ? call->Respond({}) : socket.Close(); });
  }
  TestHttp2Client client(test.port());
  const int32_t stream = client.Open("GET", "/held", {});
  client.EndBody(stream);
  expect_end(take(), [&] { client.Reset(stream); });
}

TEST(ServerTest, AfterDrainNobodyListens) {
  TestServer test;
  test.Start();
  const uint16_t port = test.port();
  EXPECT_TRUE(test.server->Drain(0ms));
  EXPECT_TRUE(test.server->Drain(0ms));
  TestSocket socket(port);
  EXPECT_FALSE(socket.connected());
}

TEST(ServerTest, EndsWhileClientsComeAndGo) {
  for (int round = 0; round < 5; ++round) {
    TestServer test;
    test.options.loops = 2;
    test.Start();
    const uint16_t port = test.port();
    std::atomic<bool> stop = false;
    std::vector<std::jthread> clients;
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back([&] {
        while (!stop) {
          TestSocket socket(port);
          if (!socket.connected() || !IsServed(socket)) return;
        }
      });
    }
    TestSocket one(port);
    EXPECT_TRUE(IsServed(one));
    test.server->Drain(1ms);
    stop = true;
  }
}

}  // namespace
}  // namespace hearth::http
