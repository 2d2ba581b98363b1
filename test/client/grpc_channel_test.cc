#include "client/remote/grpc_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client/remote/grpc_answer.h"
#include "client/scripted_service.h"

namespace hearth::client {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

void Echo(http::Exchange& exchange, const ScriptedRequest& request) {
  SendGrpcHead(exchange);
  exchange.SendBody(request.body);
  FinishGrpc(exchange);
}

class GrpcChannelTest : public testing::Test {
 protected:
  GrpcChannelTest() { Serve(); }

  void Serve(uint16_t port = 0) { server_ = std::make_unique<ScriptedServer>(service_, port); }
  uint16_t port() const { return server_->port(); }

  GrpcChannelOptions Options() const {
    GrpcChannelOptions options;
    options.server.address = server_->address();
    options.timeout = std::chrono::seconds(20);
    options.message_bytes_max = 1'000'000;
    return options;
  }

  // One call; its messages are in messages_ afterwards.
  GrpcOutcome Call(GrpcChannel& channel, std::string message = "request") {
    messages_.clear();
    return channel.Call({"/service/Method", std::move(message), {{"x-more", "yes"}}},
                        [&](std::string_view answer) {
                          messages_.emplace_back(answer);
                          return true;
                        });
  }
  GrpcOutcome CallOnce(const ScriptedService::Script& script) {
    service_.script = script;
    GrpcChannel channel(Options());
    return Call(channel);
  }

  ScriptedService service_;
  std::unique_ptr<ScriptedServer> server_;
  std::vector<std::string> messages_;
};

TEST_F(GrpcChannelTest, ACallHasOneAnswer) {
  const GrpcOutcome outcome = CallOnce(Echo);
  EXPECT_EQ(outcome.status.ToString(), "OK");
  EXPECT_TRUE(outcome.was_sent);
  EXPECT_THAT(messages_, ElementsAre("request"));
  const ScriptedRequest request = service_.requests.Get().at(0);
  EXPECT_EQ(request.path, "/service/Method");
  EXPECT_EQ(request.Header("content-type"), "application/grpc");
  EXPECT_EQ(request.Header("te"), "trailers");
  EXPECT_EQ(request.Header("x-more"), "yes");
  EXPECT_THAT(request.Header("grpc-timeout"), testing::MatchesRegex("(20000|19[0-9]{3})m"));
}

TEST_F(GrpcChannelTest, LargeMessagesGoBothWays) {
  service_.script = Echo;
  GrpcChannel channel(Options());
  const std::string message(1'000'000, 'm');
  EXPECT_EQ(Call(channel, message).status.ToString(), "OK");
  EXPECT_TRUE(messages_ == std::vector{message});
}

TEST_F(GrpcChannelTest, EmptyMessagesAreMessages) {
  service_.script = Echo;
  GrpcChannel channel(Options());
  EXPECT_EQ(Call(channel, "").status.ToString(), "OK");
  EXPECT_THAT(messages_, ElementsAre(""));
}

TEST_F(GrpcChannelTest, ErrorsComeInTheHead) {
  const GrpcOutcome outcome = CallOnce(
      [](http::Exchange& exchange, const auto&) { RefuseGrpc(exchange, "5", "no caf%C3%A9"); });
  EXPECT_EQ(outcome.status.ToString(), "NOT_FOUND: no café");
}

TEST_F(GrpcChannelTest, ErrorsComeAfterMessages) {
  const GrpcOutcome outcome = CallOnce([](http::Exchange& exchange, const auto&) {
    SendGrpcHead(exchange);
    exchange.SendBody(GrpcFrame("first"));
    FinishGrpc(exchange, "10", "too much contention");
  });
  EXPECT_EQ(outcome.status.ToString(), "ABORTED: too much contention");
  EXPECT_THAT(messages_, ElementsAre("first"));
}

TEST_F(GrpcChannelTest, AProxysPageIsAnError) {
  const GrpcOutcome outcome = CallOnce([](http::Exchange& exchange, const auto&) {
    const http::Header headers[] = {{"content-type", "text/html"}};
    exchange.SendHead(502, headers, http::BodyFollows::kYes);
    exchange.SendBody("<html>Bad gateway</html>");
    exchange.Finish({});
  });
  EXPECT_EQ(outcome.status.code(), Code::kUnavailable);
  EXPECT_THAT(outcome.status.message(), testing::HasSubstr("502"));
  EXPECT_TRUE(messages_.empty());
}

TEST_F(GrpcChannelTest, AStreamCutHalfWayIsAnError) {
  const GrpcOutcome outcome = CallOnce([](http::Exchange& exchange, const auto&) {
    SendGrpcHead(exchange);
    exchange.SendBody(GrpcFrame("first") + GrpcFrame("second").substr(0, 7));
    exchange.Abort();
  });
  EXPECT_EQ(outcome.status.code(), Code::kUnavailable);
}

TEST_F(GrpcChannelTest, AnAnswerWithoutStatusIsAnError) {
  const GrpcOutcome outcome = CallOnce([](http::Exchange& exchange, const auto&) {
    SendGrpcHead(exchange);
    exchange.SendBody(GrpcFrame("first"));
    exchange.Finish({});
  });
  EXPECT_EQ(outcome.status.code(), Code::kUnavailable);
}

TEST_F(GrpcChannelTest, AConnectionThatBreaksIsAnError) {
  service_.script = [](http::Exchange& exchange, const auto&) {
    SendGrpcHead(exchange);
    exchange.SendBody(GrpcFrame("first"));
  };
  GrpcChannel channel(Options());
  const GrpcOutcome outcome =
      channel.Call({"/service/Method", "request"}, [&](std::string_view message) {
        EXPECT_EQ(message, "first");
        server_->Stop();
        return true;
      });
  EXPECT_EQ(outcome.status.code(), Code::kUnavailable);
  EXPECT_TRUE(outcome.was_sent);
}

TEST_F(GrpcChannelTest, AServerThatHangsIsGivenUp) {
  service_.script = [](http::Exchange&, const auto&) {};
  GrpcChannelOptions options = Options();
  GrpcOutcome outcome;
  // On a busy machine the short time may pass before the call is even sent. The call then gets more
  // time.
  for (milliseconds time(200); !outcome.was_sent && time < options.timeout; time *= 2) {
    GrpcChannelOptions impatient = options;
    impatient.timeout = time;
    GrpcChannel channel(impatient);
    outcome = Call(channel);
    EXPECT_EQ(outcome.status.code(), Code::kDeadlineExceeded);
  }
  EXPECT_TRUE(outcome.was_sent);
  EXPECT_TRUE(service_.closed.WaitFor([](size_t closed) { return closed >= 1; }));
}

TEST_F(GrpcChannelTest, AMessageBeyondTheLimitIsAnError) {
  const GrpcOutcome outcome = CallOnce([](http::Exchange& exchange, const auto&) {
    SendGrpcHead(exchange);
    exchange.SendBody(GrpcFrame(std::string(1'000'001, 'm')));
    FinishGrpc(exchange);
  });
  EXPECT_EQ(outcome.status.code(), Code::kResourceExhausted);
}

TEST_F(GrpcChannelTest, ACompressedMessageIsAnError) {
  const GrpcOutcome outcome = CallOnce([](http::Exchange& exchange, const auto&) {
    SendGrpcHead(exchange);
    std::string frame = GrpcFrame("message");
    frame[0] = 1;
    exchange.SendBody(frame);
    FinishGrpc(exchange);
  });
  EXPECT_EQ(outcome.status.code(), Code::kInternal);
}

TEST_F(GrpcChannelTest, WhereNobodyListensNothingIsSent) {
  GrpcChannel channel(Options());
  server_.reset();
  const GrpcOutcome outcome = Call(channel);
  EXPECT_EQ(outcome.status.code(), Code::kUnavailable);
  EXPECT_FALSE(outcome.was_sent);
}

TEST_F(GrpcChannelTest, AHostWithoutAddressIsUnavailable) {
  GrpcChannelOptions options = Options();
  options.server.address = "host.invalid:1";
  GrpcChannel channel(options);
  const GrpcOutcome outcome = Call(channel);
  EXPECT_EQ(outcome.status.code(), Code::kUnavailable);
  EXPECT_FALSE(outcome.was_sent);
}

TEST_F(GrpcChannelTest, CallsShareAConnection) {
  service_.script = Echo;
  GrpcChannel channel(Options());
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Call(channel).status.ToString(), "OK");
  EXPECT_EQ(server_->connection_count(), 1u);
}

TEST_F(GrpcChannelTest, AnErrorOfTheServerKeepsTheConnection) {
  service_.script = [](http::Exchange& exchange, const auto&) { RefuseGrpc(exchange, "5", ""); };
  GrpcChannel channel(Options());
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Call(channel).status.code(), Code::kNotFound);
  EXPECT_EQ(server_->connection_count(), 1u);
}

TEST_F(GrpcChannelTest, MessagesComeWhileTheAnswerHasNoEnd) {
  const auto send = [](http::Exchange& exchange) {
    while (exchange.unsent_bytes() < http::kSendBufferLowBytes) {
      exchange.SendBody(GrpcFrame(std::string(10'000, 'm')));
    }
  };
  service_.script = [&](http::Exchange& exchange, const auto&) {
    SendGrpcHead(exchange);
    send(exchange);
  };
  service_.on_writable = send;
  GrpcChannel channel(Options());
  size_t taken = 0;
  const GrpcOutcome outcome =
      channel.Call({"/service/Method", "request"}, [&](std::string_view message) {
        EXPECT_EQ(message.size(), 10'000u);
        return ++taken < 500;
      });
  EXPECT_EQ(outcome.status.ToString(), "OK");  // Ending early is not an error.
  EXPECT_EQ(taken, 500u);
  EXPECT_TRUE(service_.closed.WaitFor([](size_t closed) { return closed == 1; }));
  service_.script = Echo;
  EXPECT_EQ(Call(channel).status.ToString(), "OK");
}

TEST_F(GrpcChannelTest, CallsBeyondTheConnectionsWait) {
  service_.script = Echo;
  GrpcChannelOptions options = Options();
  options.connections_max = 1;
  std::optional<GrpcOutcome> inner;
  GrpcOutcome last;
  // On a busy machine a short time may not suffice for the calls that have a connection, either.
  for (milliseconds time(300); !(inner && last.status.ok()) && time < Options().timeout;
       time *= 2) {
    options.timeout = time;
    GrpcChannel channel(options);
    inner.reset();
    channel.Call({"/service/Method", "request"}, [&](std::string_view) {
      inner = channel.Call({"/service/Method", "request"}, [](std::string_view) { return true; });
      return true;
    });
    if (inner) {
      EXPECT_EQ(inner->status.code(), Code::kDeadlineExceeded);
      EXPECT_FALSE(inner->was_sent);
    }
    last = Call(channel);
  }
  EXPECT_TRUE(inner);
  EXPECT_EQ(last.status.ToString(), "OK");  // Its place is free again.
}

TEST_F(GrpcChannelTest, ThreadsShareTheConnections) {
  service_.script = Echo;
  GrpcChannelOptions options = Options();
  options.connections_max = 3;
  GrpcChannel channel(options);
  std::vector<std::thread> threads;
  http::Watched<int> failed;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 20; ++call) {
        std::string answer;
        const GrpcOutcome outcome =
            channel.Call({"/service/Method", "request"}, [&](std::string_view message) {
              answer = message;
              return true;
            });
        if (!outcome.status.ok() || answer != "request") failed.Update([](int& n) { ++n; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.Get(), 0);
  EXPECT_LE(server_->connection_count(), 3u);
}

TEST_F(GrpcChannelTest, AServerThatComesBackIsFoundAgain) {
  service_.script = Echo;
  GrpcChannel channel(Options());
  ASSERT_EQ(Call(channel).status.ToString(), "OK");
  const uint16_t before = port();
  server_.reset();
  EXPECT_EQ(Call(channel).status.code(), Code::kUnavailable);
  Serve(before);
  EXPECT_EQ(Call(channel).status.ToString(), "OK");
}

// By default curl resends the request when a reused connection breaks.
TEST_F(GrpcChannelTest, ARequestIsNeverSentTwice) {
  service_.script = Echo;
  GrpcChannel channel(Options());
  ASSERT_EQ(Call(channel).status.ToString(), "OK");
  service_.script = [](http::Exchange&, const auto&) {};
  GrpcOutcome outcome;
  std::thread caller([&] { outcome = Call(channel); });
  const bool has_come =
      service_.requests.WaitFor([](const auto& requests) { return requests.size() == 2; });
  const uint16_t before = port();
  server_.reset();
  service_.script = Echo;
  Serve(before);
  caller.join();
  ASSERT_TRUE(has_come);
  EXPECT_EQ(outcome.status.code(), Code::kUnavailable);
  EXPECT_TRUE(outcome.was_sent);
  EXPECT_EQ(service_.requests.Get().size(), 2u);
}

}  // namespace
}  // namespace hearth::client
