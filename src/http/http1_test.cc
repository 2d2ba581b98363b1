// HTTP/1.1 through a real server, with hand-written requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "http/testing/endless_service.h"
#include "http/testing/test_server.h"
#include "http/testing/test_socket.h"

namespace hearth::http {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr size_t kBodyBytesMax = 1'000'000;

// Consumes a body slowly: the test grants the credit.
class SlowTakerService final : public Service {
 public:
  std::shared_ptr<ExchangeHandler> Open(Exchange& exchange) override {
    auto taker = std::make_shared<Taker>(exchange, *this);
    loop = exchange.loop();
    current = taker;
    return taker;
  }

  struct Taker final : ExchangeHandler {
    Taker(Exchange& the_exchange, SlowTakerService& the_service)
        : exchange(the_exchange), service(the_service) {}
    void OnBody(std::string_view bytes) override {
      held += bytes.size();
      service.received.Update([&](size_t& total) { total += bytes.size(); });
      if (open) Release();
    }
    void Release() {
      open = true;
      exchange.ConsumeBody(std::exchange(held, 0));
    }
    void OnBodyEnd() override { exchange.SendHead(200, {}, BodyFollows::kNo); }
    void OnClosed() override {}
    Exchange& exchange;
    SlowTakerService& service;
    size_t held = 0;
    bool open = false;
  };

  Watched<size_t> received;
  std::shared_ptr<EventLoop> loop;
  std::shared_ptr<Taker> current;
};

// An answer without an end of its own, like an event stream. It stays silent.
class SilentService final : public Service {
 public:
  std::shared_ptr<ExchangeHandler> Open(Exchange& exchange) override {
    exchange.SendHead(200, {}, BodyFollows::kYes);
    exchange.SendBody("begun\n");
    return std::make_shared<Silent>(exchange, *this);
  }

  Watched<bool> closed;

 private:
  struct Silent final : ExchangeHandler {
    Silent(Exchange& the_exchange, SilentService& the_service)
        : exchange(the_exchange), service(the_service) {}
    void OnBody(std::string_view) override {}
    void OnBodyEnd() override {}
    void OnInputEnd() override { exchange.Abort(); }
    void OnClosed() override {
      service.closed.Update([](bool& value) { value = true; });
    }
    Exchange& exchange;
    SilentService& service;
  };
};

class Http1Test : public testing::Test {
 protected:
  Http1Test() : server_(PlainOptions{.body_bytes_max = kBodyBytesMax}) {
    server_.router.AddPlain(
        "GET", "/", [](std::shared_ptr<PlainCall> call) { call->Respond({.body = "hello\n"}); });
    server_.router.AddPlain("POST", "/echo", [](std::shared_ptr<PlainCall> call) {
      call->Respond({.body = std::string(call->body())});
    });
    server_.router.AddPlain("GET", "/later", [this](std::shared_ptr<PlainCall> call) {
      threads_.emplace_back([call] { call->Respond({.body = "later\n"}); });
    });
    server_.router.AddService("/endless", endless_);
    server_.router.AddService("/slow", slow_);
    server_.router.AddService("/silent", silent_);
    // Even a slow machine answers in time.
    server_.options.connection.half_closed_timeout = 120s;
  }

  std::string Exchange(std::string_view request) {
    TestSocket socket(server_.port());
    EXPECT_TRUE(socket.Send(request));
    socket.CloseSending();
    return socket.ReadToEnd();
  }

  std::vector<std::jthread> threads_;
  EndlessService endless_;
  SlowTakerService slow_;
  SilentService silent_;
  TestServer server_;
};

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

TEST_F(Http1Test, KeepsTheConnection) {
  server_.Start();
  TestSocket socket(server_.port());
  for (int i = 0; i < 3; ++i) {
    socket.Send(kGet);
    const std::string answer = socket.ReadUntil("hello\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("content-length: 6\r\n"));
    EXPECT_THAT(answer, Not(HasSubstr("connection:")));
  }
}

TEST_F(Http1Test, AClientThatLeavesASilentAnswerIsNoticed) {
  server_.Start();
  TestSocket socket(server_.port());
  socket.Send("GET /silent HTTP/1.1\r\nhost: localhost\r\n\r\n");
  EXPECT_THAT(socket.ReadUntil("begun\n"), HasSubstr("200 OK"));
  EXPECT_FALSE(silent_.closed.Get());
  socket.Close();
  EXPECT_TRUE(silent_.closed.WaitFor([](bool closed) { return closed; }));
}

TEST_F(Http1Test, ASilentAnswerOutlivesTheTimeouts) {
  // The request must arrive within these times, also on a busy machine.
  server_.options.connection.http1_idle_timeout = 500ms;
  server_.options.connection.header_read_timeout = 500ms;
  server_.options.connection.send_stall_timeout = 500ms;
  server_.Start();
  TestSocket silent(server_.port());
  silent.Send("GET /silent HTTP/1.1\r\nhost: localhost\r\n\r\n");
  EXPECT_THAT(silent.ReadUntil("begun\n\r\n"), HasSubstr("200 OK"));
  // Later connections are closed by the same timeouts; this one is not.
  for (int i = 0; i < 2; ++i) {
    TestSocket idle(server_.port());
    EXPECT_EQ(idle.ReadToEnd(), "");
  }
  EXPECT_FALSE(silent_.closed.Get());
  EXPECT_FALSE(silent.readable());
}

// Checks the kernel's setting, because a vanished peer cannot be simulated on the loopback.
TEST_F(Http1Test, APeerThatVanishesIsGivenUp) {
  server_.options.connection.send_stall_timeout = 12'345ms;
  server_.Start();
  TestSocket socket(server_.port());
  socket.Send(kGet);
  socket.ReadUntil("hello\n");
  bool found = false;
  for (int descriptor = 0; descriptor < 1'024; ++descriptor) {
    sockaddr_in local = {}, peer = {};
    socklen_t local_bytes = sizeof(local), peer_bytes = sizeof(peer);
    if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&local), &local_bytes) != 0) continue;
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &peer_bytes) != 0) continue;
    if (ntohs(local.sin_port) != server_.port()) continue;
    unsigned milliseconds = 0;
    socklen_t bytes = sizeof(milliseconds);
    ASSERT_EQ(getsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, &bytes), 0);
    EXPECT_EQ(milliseconds, 12'345u);
    found = true;
  }
  EXPECT_TRUE(found);
}

TEST_F(Http1Test, ClosesWhenAsked) {
  server_.Start();
  TestSocket socket(server_.port());
  socket.Send("GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
  const std::string answer = socket.ReadToEnd();
  EXPECT_THAT(answer, HasSubstr("connection: close\r\n"));
  EXPECT_THAT(answer, HasSubstr("hello\n"));
}

TEST_F(Http1Test, AnswersPipelinedRequestsInOrder) {
  server_.Start();
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += "GET /later HTTP/1.1\r\nhost: localhost\r\n\r\n";
    requests += "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n\r\n";
    requests += std::to_string(100 + i);
  }
  TestSocket socket(server_.port());
  ASSERT_TRUE(socket.Send(requests));
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(socket.ReadUntil("later\n"), HasSubstr("200 OK"));
    EXPECT_THAT(socket.ReadUntil("\r\n\r\n"), HasSubstr("200 OK"));
    EXPECT_EQ(socket.ReadExactly(3), std::to_string(100 + i));
  }
}

TEST_F(Http1Test, TakesChunkedBodiesInAnyPieces) {
  server_.Start();
  TestSocket socket(server_.port());
  const std::string request =
      "\r\nPOST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;ext=1\r\nhello\r\n7\r\n, world\r\n0\r\nx-trailer: 1\r\n\r\n";
  for (const char c : request) ASSERT_TRUE(socket.Send({&c, 1}));
  EXPECT_THAT(socket.ReadUntil("hello, world"), HasSubstr("content-length: 12\r\n"));
  socket.Send(kGet);  // No bytes of the body are left over.
  EXPECT_THAT(socket.ReadUntil("hello\n"), HasSubstr("200 OK"));
}

TEST_F(Http1Test, TakesAnEmptyChunkedBodyInAnyPieces) {
  ASSERT_EQ(server_.options.loops, 1u);
  server_.Start();
  TestSocket other(server_.port());
  for (size_t piece = 1; piece <= 5; ++piece) {
    TestSocket socket(server_.port());
    socket.Send("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string_view last_chunk = "0\r\n\r\n";
    for (size_t sent = 0; sent < last_chunk.size(); sent += piece) {
      ASSERT_TRUE(socket.Send(last_chunk.substr(sent, piece)));
      // The server's only loop has read the piece, and so it has arrived alone, once it has
      // answered another client twice: the first request may be read together with the piece, or
      // before it.
      for (int round = 0; round < 2; ++round) {
        ASSERT_TRUE(other.Send(kGet));
        ASSERT_THAT(other.ReadUntil("hello\n"), HasSubstr("200 OK"));
      }
    }
    EXPECT_THAT(socket.ReadUntil("\r\n\r\n"), HasSubstr("content-length: 0\r\n")) << piece;
  }
}

TEST_F(Http1Test, GivesLeaveToSendTheBody) {
  server_.Start();
  TestSocket socket(server_.port());
  socket.Send(
      "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\nexpect: "
      "100-continue\r\n\r\n");
  EXPECT_EQ(socket.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.Send("ok");
  EXPECT_THAT(socket.ReadUntil("ok"), HasSubstr("200 OK\r\n"));
}

TEST_F(Http1Test, RefusesABodyBeforeItIsSent) {
  server_.Start();
  TestSocket socket(server_.port());
  socket.Send(
      "POST /no HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n");
  const std::string answer = socket.ReadToEnd();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(answer, HasSubstr("connection: close\r\n"));
}

TEST_F(Http1Test, HeadHasTheHeadersOfGetOnly) {
  server_.Start();
  const std::string answer = Exchange("HEAD / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("content-length: 6\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("hello")));
}

TEST_F(Http1Test, AnswersAClientThatClosedItsHalf) {
  server_.Start();
  EXPECT_THAT(Exchange("GET /later HTTP/1.1\r\nhost: localhost\r\n\r\n"), HasSubstr("later\n"));
}

TEST_F(Http1Test, SpeaksHttp10) {
  server_.Start();
  TestSocket socket(server_.port());
  socket.Send("GET / HTTP/1.0\r\nhost: localhost\r\n\r\n");
  EXPECT_THAT(socket.ReadToEnd(), AllOf(HasSubstr("connection: close\r\n"), HasSubstr("hello\n")));
  TestSocket kept(server_.port());
  kept.Send("GET / HTTP/1.0\r\nhost: localhost\r\nconnection: keep-alive\r\n\r\n");
  EXPECT_THAT(kept.ReadUntil("hello\n"), HasSubstr("connection: keep-alive\r\n"));
}

TEST_F(Http1Test, TakesAnAbsoluteTarget) {
  server_.Start();
  EXPECT_THAT(Exchange("GET http://127.0.0.1/?x HTTP/1.1\r\nhost: localhost\r\n\r\n"),
              HasSubstr("hello\n"));
  EXPECT_THAT(Exchange("GET http://127.0.0.1 HTTP/1.1\r\nhost: localhost\r\n\r\n"),
              HasSubstr("hello\n"));
}

TEST_F(Http1Test, NamesWhatIsWrong) {
  server_.Start();
  EXPECT_THAT(Exchange("GET /none HTTP/1.1\r\nhost: localhost\r\n\r\n"),
              StartsWith("HTTP/1.1 404"));
  const std::string wrong_method = Exchange("PUT / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  EXPECT_THAT(wrong_method, StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(wrong_method, HasSubstr("allow: GET\r\n"));
}

TEST_F(Http1Test, RefusesGarbage) {
  server_.Start();
  for (const std::string_view request :
       {"garbage\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n" /* No host. */, "GET / HTTP/9.9\r\nhost: localhost\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", "GET / HTTP/1.1\r\nhost a\r\n\r\n",
        "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: x\r\n\r\n",
        "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: "
        "2\r\n\r\nab",
        "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\n"
        "transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"}) {
    EXPECT_THAT(Exchange(request), StartsWith("HTTP/1.1 400")) << request;
  }
}

TEST_F(Http1Test, BothSidesOfTheHeaderLimit) {
  server_.options.connection.header_bytes_max = 1'000;
  server_.Start();
  const std::string frame = "GET / HTTP/1.1\r\nhost: localhost\r\nx: \r\n\r\n";
  const auto request = [&](size_t bytes) {
    return "GET / HTTP/1.1\r\nhost: localhost\r\nx: " + std::string(bytes - frame.size(), 'x') +
           "\r\n\r\n";
  };
  EXPECT_THAT(Exchange(request(1'000)), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Exchange(request(1'001)), StartsWith("HTTP/1.1 431"));
}

TEST_F(Http1Test, BothSidesOfTheBodyLimit) {
  server_.Start();
  const auto request = [&](size_t bytes) {
    return "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: " + std::to_string(bytes) +
           "\r\n\r\n" + std::string(bytes, 'b');
  };
  TestSocket fits(server_.port());
  ASSERT_TRUE(fits.Send(request(kBodyBytesMax)));
  EXPECT_THAT(fits.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(fits.ReadExactly(kBodyBytesMax), std::string(kBodyBytesMax, 'b'));

  TestSocket exceeds(server_.port());
  exceeds.Send(request(kBodyBytesMax + 1));
  EXPECT_THAT(exceeds.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 413"));
}

TEST_F(Http1Test, GivesUpASlowHead) {
  server_.options.connection.header_read_timeout = 50ms;
  server_.Start();
  TestSocket slow(server_.port());
  slow.Send("GET / HTTP/1.1\r\nho");
  EXPECT_THAT(slow.ReadToEnd(), StartsWith("HTTP/1.1 408"));
  TestSocket silent(server_.port());
  EXPECT_EQ(silent.ReadToEnd(), "");
  TestSocket half_preface(server_.port());
  half_preface.Send("PRI * HTTP/2.0\r\n");
  EXPECT_EQ(half_preface.ReadToEnd(), "");
}

TEST_F(Http1Test, GivesUpABodyThatArrivesByteByByte) {
  server_.options.connection.body_period = 20ms;
  server_.options.connection.body_bytes_per_period_min = 10'000'000;
  server_.Start();
  TestSocket slow(server_.port());
  slow.Send("POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000000\r\n\r\n");
  while (slow.Send("x")) {
  }
  // The sender notices by the failing write; what the server said before may be lost with it.
  TestSocket other(server_.port());
  other.Send(kGet);
  EXPECT_THAT(other.ReadUntil("hello\n"), HasSubstr("200 OK"));
}

TEST_F(Http1Test, GivesUpASlowBodyAndAnIdleConnection) {
  server_.options.connection.http1_idle_timeout = 50ms;
  server_.options.connection.body_period = 50ms;
  server_.Start();
  TestSocket slow(server_.port());
  slow.Send("POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\nhel");
  EXPECT_THAT(slow.ReadToEnd(), StartsWith("HTTP/1.1 408"));
  TestSocket idle(server_.port());
  idle.Send(kGet);
  EXPECT_THAT(idle.ReadToEnd(), StartsWith("HTTP/1.1 200"));
}

TEST_F(Http1Test, StreamsInChunksNoFasterThanTheClientReads) {
  server_.Start();
  TestSocket socket(server_.port(), /*receive_buffer_bytes=*/4'096);
  socket.Send("GET /endless HTTP/1.1\r\nhost: localhost\r\n\r\n");
  EXPECT_THAT(socket.ReadUntil("\r\n\r\n"), HasSubstr("transfer-encoding: chunked\r\n"));
  EXPECT_EQ(socket.ReadUntil("\r\n"), "2710\r\n");  // 10,000 in hexadecimal.
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_EQ(socket.ReadExactly(10'002), std::string(10'000, 'x') + "\r\n");
    ASSERT_EQ(socket.ReadUntil("\r\n"), "2710\r\n");
  }
  EXPECT_LE(endless_.unsent_bytes_most.Get(), kSendBufferLowBytes + 10'010);
  socket.Close();
  EXPECT_TRUE(endless_.closed.WaitFor([](bool closed) { return closed; }));
}

TEST_F(Http1Test, GivesUpAClientThatReadsNothing) {
  server_.options.connection.send_stall_timeout = 50ms;
  server_.Start();
  TestSocket socket(server_.port(), /*receive_buffer_bytes=*/4'096);
  socket.Send("GET /endless HTTP/1.1\r\nhost: localhost\r\n\r\n");
  EXPECT_TRUE(endless_.closed.WaitFor([](bool closed) { return closed; }));
}

TEST_F(Http1Test, ASlowHandlerHoldsTheSenderBack) {
  server_.Start();
  constexpr size_t kBytes = 64 << 20;
  constexpr size_t kAtMostBytes = 512 * 1024;  // The window and one read.
  TestSocket socket(server_.port());
  std::jthread sender([&] {
    socket.Send("POST /slow HTTP/1.1\r\nhost: localhost\r\ncontent-length: " +
                std::to_string(kBytes) + "\r\n\r\n");
    socket.Send(std::string(kBytes, 'b'));
  });
  ASSERT_TRUE(slow_.received.WaitFor([](size_t bytes) { return bytes >= 256 * 1024; }));
  std::promise<size_t> while_held;
  slow_.loop->Post([&] { while_held.set_value(slow_.received.Get()); });
  EXPECT_LE(while_held.get_future().get(), kAtMostBytes);
  slow_.loop->Post([this] { slow_.current->Release(); });
  EXPECT_THAT(socket.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(slow_.received.Get(), kBytes);
}

TEST_F(Http1Test, DrainLetsAnAnswerFinishAndClosesIdleConnections) {
  Watched<std::shared_ptr<PlainCall>> held;
  server_.router.AddPlain("GET", "/held", [&](std::shared_ptr<PlainCall> call) {
    held.Update([&](auto& value) { value = call; });
  });
  server_.Start();
  TestSocket idle(server_.port());
  idle.Send(kGet);
  idle.ReadUntil("hello\n");
  TestSocket busy(server_.port());
  busy.Send("GET /held HTTP/1.1\r\nhost: localhost\r\n\r\n");
  ASSERT_TRUE(held.WaitFor([](const auto& call) { return call != nullptr; }));

  auto drained = std::async(std::launch::async, [&] { return server_.server->Drain(20s); });
  EXPECT_EQ(idle.ReadToEnd(), "");
  held.Get()->Respond({.body = "finished\n"});
  const std::string answer = busy.ReadToEnd();
  EXPECT_THAT(answer, HasSubstr("connection: close\r\n"));
  EXPECT_THAT(answer, HasSubstr("finished\n"));
  busy.Close();
  EXPECT_TRUE(drained.get());
}

}  // namespace
}  // namespace hearth::http
