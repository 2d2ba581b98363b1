// HTTP/1.1 clients that do not read their answers, leave before they come, or send more than their
// turn, through a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "http/testing/endless_service.h"
#include "http/testing/test_server.h"
#include "http/testing/test_socket.h"

namespace hearth::http {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

constexpr size_t kKibibyte = 1024;
constexpr size_t kMebibyte = 1024 * kKibibyte;
constexpr size_t kMemoryBytes = 64 * kMebibyte;
constexpr size_t kLargeBytes = 16 * kMebibyte;
constexpr int kSmallReceiveBuffer = 4'096;

std::string GetOf(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nhost: localhost\r\n\r\n";
}

// Begins an answer if asked to, and never ends it.
class UnansweredService final : public Service {
 public:
  std::shared_ptr<ExchangeHandler> Open(Exchange& exchange) override {
    if (exchange.head().path().ends_with("begun")) {
      exchange.SendHead(200, {}, BodyFollows::kYes);
    }
    opened.Update([](size_t& count) { ++count; });
    return std::make_shared<Handler>(*this);
  }

  Watched<size_t> opened;
  Watched<size_t> closed;

 private:
  struct Handler final : ExchangeHandler {
    explicit Handler(UnansweredService& the_service) : service(the_service) {}
    void OnBody(std::string_view) override {}
    void OnBodyEnd() override {}
    void OnClosed() override {
      service.closed.Update([](size_t& count) { ++count; });
    }
    UnansweredService& service;
  };
};

class Http1GreedTest : public testing::Test {
 protected:
  Http1GreedTest() {
    server_.options.memory = &memory_;
    server_.router.AddPlain(
        "GET", "/", [](std::shared_ptr<PlainCall> call) { call->Respond({.body = "hello\n"}); });
    server_.router.AddPlain("GET", "/large", [this](std::shared_ptr<PlainCall> call) {
      large_answers_.Update([](size_t& count) { ++count; });
      call->Respond({.body = std::string(kLargeBytes, 'x')});
    });
    server_.router.AddService("/endless", endless_);
    server_.router.AddService("/unanswered", unanswered_);
  }
  ~Http1GreedTest() override { server_.server.reset(); }

  static bool IsServed(TestSocket& socket) {
    return socket.Send(GetOf("/")) &&
           socket.ReadUntil("hello\n").find("200 OK") != std::string::npos;
  }
  // Each attempt is a turn of the server's only loop.
  bool Eventually(const std::function<bool()>& met) {
    TestSocket other(server_.port());
    for (int i = 0; i < 100'000; ++i) {
      if (met()) return true;
      if (!IsServed(other)) return false;
    }
    return false;
  }

  MemoryBudget memory_{kMemoryBytes};
  Watched<size_t> large_answers_;
  EndlessService endless_;
  UnansweredService unanswered_;
  TestServer server_;
};

TEST_F(Http1GreedTest, AnAnswerCountsAsLongAsItsBufferLives) {
  server_.Start();
  TestSocket socket(server_.port(), kSmallReceiveBuffer);
  socket.Send(GetOf("/large"));
  EXPECT_THAT(socket.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  // More than a part of it is still unread.
  EXPECT_EQ(socket.ReadExactly(4 * kMebibyte).size(), 4 * kMebibyte);
  EXPECT_GE(memory_.used_bytes(), kLargeBytes);
  EXPECT_EQ(socket.ReadExactly(12 * kMebibyte).size(), 12 * kMebibyte);
  EXPECT_TRUE(Eventually([this] { return memory_.used_bytes() < 128 * kKibibyte; }))
      << memory_.used_bytes();
  EXPECT_TRUE(IsServed(socket));
}

TEST_F(Http1GreedTest, AnAnswerForWhichThereIsNoMemoryIsAnError) {
  server_.Start();
  TestSocket socket(server_.port());
  ASSERT_TRUE(IsServed(socket));
  memory_.Take(kMemoryBytes - kLargeBytes);
  socket.Send(GetOf("/large"));
  EXPECT_THAT(socket.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 429 "));
  EXPECT_TRUE(IsServed(socket));
  memory_.Return(kMemoryBytes - kLargeBytes);
  socket.Send(GetOf("/large"));
  EXPECT_THAT(socket.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(socket.ReadExactly(kLargeBytes).size(), kLargeBytes);
}

TEST_F(Http1GreedTest, ARequestForWhichThereIsNoMemoryIsRefused) {
  server_.Start();
  memory_.Take(kMemoryBytes);
  TestSocket refused(server_.port());
  refused.Send(GetOf("/"));
  EXPECT_THAT(refused.ReadToEnd(), StartsWith("HTTP/1.1 429 "));
  memory_.Return(kMemoryBytes);
  TestSocket served(server_.port());
  EXPECT_TRUE(IsServed(served));
}

TEST_F(Http1GreedTest, TheHeadOfARequestCountsUntilItIsAnswered) {
  server_.Start();
  constexpr size_t kHeads = 20;
  const std::string head =
      "GET /unanswered HTTP/1.1\r\nhost: localhost\r\nx: " + std::string(15 * kKibibyte, 'x') +
      "\r\n\r\n";
  {
    std::vector<std::unique_ptr<TestSocket>> sockets;
    for (size_t i = 0; i < kHeads; ++i) {
      sockets.push_back(std::make_unique<TestSocket>(server_.port()));
      sockets.back()->Send(head);
    }
    ASSERT_TRUE(unanswered_.opened.WaitFor([](size_t count) { return count == kHeads; }));
    EXPECT_GE(memory_.used_bytes(), kHeads * 15 * kKibibyte);
  }
  EXPECT_TRUE(Eventually([this] { return memory_.used_bytes() < 128 * kKibibyte; }));
}

TEST_F(Http1GreedTest, WhatTheSocketDoesNotTakeCounts) {
  server_.Start();
  TestSocket socket(server_.port(), kSmallReceiveBuffer);
  socket.Send(GetOf("/endless"));
  // What waits for the socket, in addition to what waits in the exchange: up to 256 KiB, as many as
  // the socket did not take last time.
  EXPECT_TRUE(Eventually([&] {
    return socket.ReadExactly(10'000).size() == 10'000 && memory_.used_bytes() >= 192 * kKibibyte;
  }));
  socket.Close();
  EXPECT_TRUE(Eventually([this] { return memory_.used_bytes() < 128 * kKibibyte; }));
}

TEST_F(Http1GreedTest, WhatIsSentTooEarlyCounts) {
  server_.Start();
  TestSocket socket(server_.port());
  socket.Send(GetOf("/unanswered"));
  ASSERT_TRUE(unanswered_.opened.WaitFor([](size_t count) { return count == 1; }));
  socket.Send(std::string(64 * kKibibyte, 'x'));
  EXPECT_TRUE(Eventually([this] { return memory_.used_bytes() >= 64 * kKibibyte; }));
  // If there is no memory for it, the connection ends.
  TestSocket refused(server_.port());
  refused.Send(GetOf("/unanswered"));
  ASSERT_TRUE(unanswered_.opened.WaitFor([](size_t count) { return count == 2; }));
  memory_.Take(kMemoryBytes);
  refused.Send(std::string(64 * kKibibyte, 'x'));
  EXPECT_TRUE(unanswered_.closed.WaitFor([](size_t count) { return count >= 1; }));
  memory_.Return(kMemoryBytes);
}

TEST_F(Http1GreedTest, PipelinedRequestsWaitUntilTheAnswersBeforeAreRead) {
  server_.Start();
  constexpr size_t kRequests = 20;
  TestSocket socket(server_.port(), kSmallReceiveBuffer);
  std::string requests;
  for (size_t i = 0; i < kRequests; ++i) requests += GetOf("/large");
  socket.Send(requests);
  ASSERT_TRUE(large_answers_.WaitFor([](size_t count) { return count >= 1; }));
  TestSocket other(server_.port());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(IsServed(other));
  EXPECT_EQ(large_answers_.Get(), 1u);
  EXPECT_LT(memory_.used_bytes(), 2 * kLargeBytes);
  for (size_t i = 0; i < kRequests; ++i) {
    ASSERT_THAT(socket.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
    ASSERT_EQ(socket.ReadExactly(kLargeBytes).size(), kLargeBytes);
  }
  EXPECT_EQ(large_answers_.Get(), kRequests);
}

TEST_F(Http1GreedTest, ASlowReaderIsGivenUp) {
  server_.options.connection.send_stall_timeout = 1ms;
  server_.options.connection.send_bytes_per_period_min = std::numeric_limits<size_t>::max();
  server_.Start();
  TestSocket socket(server_.port(), kSmallReceiveBuffer);
  socket.Send(GetOf("/endless"));
  while (socket.ReadExactly(1'000).size() == 1'000) {
  }
  EXPECT_TRUE(endless_.closed.WaitFor([](bool closed) { return closed; }));
}

TEST_F(Http1GreedTest, ARequestWhoseClientHasLeftIsCancelled) {
  server_.Start();
  size_t gone = 0;
  for (const char* path : {"/unanswered", "/unanswered/begun"}) {
    TestSocket socket(server_.port());
    socket.Send(GetOf(path));
    ++gone;
    ASSERT_TRUE(unanswered_.opened.WaitFor([gone](size_t count) { return count == gone; }));
    EXPECT_EQ(unanswered_.closed.Get(), gone - 1);
    socket.Close();
    EXPECT_TRUE(unanswered_.closed.WaitFor([gone](size_t count) { return count == gone; })) << path;
  }
}

// The answer is complete, so the client may still want to read it.
TEST_F(Http1GreedTest, AnAnswerThatIsReadyIsSentToAClientThatClosedItsHalf) {
  server_.options.connection.half_closed_timeout = 0ms;
  server_.Start();
  TestSocket socket(server_.port(), kSmallReceiveBuffer);
  socket.Send(GetOf("/large"));
  socket.CloseSending();
  EXPECT_THAT(socket.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(socket.ReadToEnd().size(), kLargeBytes);
}

}  // namespace
}  // namespace hearth::http
