// gRPC through a real server, with a client of our own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "doors/grpc/testing/grpc_test_server.h"
#include "http/gzip.h"
#include "http/testing/test_http2_client.h"
#include "rpc/call.h"

namespace hearth::doors::grpc {
namespace {

using namespace http;

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kMessageBytesMax = 10 * 1024 * 1024;

int Number(Code code) { return static_cast<int>(code); }

// Sends every message back, and records the end of the call in `events`.
class Echo final : public rpc::Receiver {
 public:
  Echo(std::shared_ptr<rpc::Call> call, http::Watched<std::vector<std::string>>& events)
      : call_(std::move(call)), events_(events) {}
  void OnMessage(std::string_view message) override {
    events_.Update([&](auto& all) { all.emplace_back(message); });
    if (message == "finish") return call_->Finish(Status(Code::kAborted, "as you wish"));
    call_->Send(std::string(message));
  }
  void OnHalfClose() override { call_->Finish(Status()); }
  void OnDrain() override { call_->Finish(Status(Code::kUnavailable, "come back later")); }

 private:
  const std::shared_ptr<rpc::Call> call_;  // Shared with the connection.
  http::Watched<std::vector<std::string>>& events_;
};

// Processes one message at a time, and only when the test allows it.
class OneByOne final : public rpc::Receiver {
 public:
  OneByOne(std::shared_ptr<rpc::Call> call, http::Watched<size_t>& received)
      : call_(std::move(call)), received_(received) {}
  void OnMessage(std::string_view) override {
    call_->PauseReceiving();
    received_.Update([](size_t& count) { ++count; });
  }
  void OnHalfClose() override { call_->Finish(Status()); }

 private:
  const std::shared_ptr<rpc::Call> call_;  // Shared with the connection.
  http::Watched<size_t>& received_;
};

class GrpcTest : public testing::Test {
 protected:
  GrpcTest() : server_(GrpcOptions{.message_bytes_max = kMessageBytesMax}) {
    AddSingle("/t/Echo", [](std::shared_ptr<rpc::Call> call, std::string_view request) {
      call->Respond(std::string(request));
    });
    AddSingle("/t/Size", [](std::shared_ptr<rpc::Call> call, std::string_view request) {
      call->Respond(std::to_string(request.size()));
    });
    AddSingle("/t/Fail", [](std::shared_ptr<rpc::Call> call, std::string_view) {
      call->Respond(Status(Code::kNotFound, "no \"caf\xc3\xa9\"\n"));
    });
    AddSingle("/t/Elsewhere", [this](std::shared_ptr<rpc::Call> call, std::string_view request) {
      threads_.emplace_back([call, text = std::string(request)] { call->Respond(text); });
    });
    AddSingle("/t/Batches", [this](std::shared_ptr<rpc::Call> call, std::string_view) {
      threads_.emplace_back([call] {
        rpc::MessageBatch batch;
        batch.Add("one");
        batch.Add("two");
        call->Send(std::move(batch));
        rpc::MessageBatch last;
        last.Add("three");
        call->Finish(std::move(last), Status(Code::kAborted, "enough"));
      });
    });
    AddSingle("/t/Never", [this](std::shared_ptr<rpc::Call> call, std::string_view) {
      call->OnCancelled([this] { cancelled_.Update([](int& count) { ++count; }); });
      held_.Update([&](auto& value) { value = call; });
    });
    server_.methods.Add("/t/Bidi", rpc::StreamMethod([this](std::shared_ptr<rpc::Call> call) {
                          call->OnCancelled([this] { cancelled_.Update([](int& c) { ++c; }); });
                          return std::make_unique<Echo>(std::move(call), events_);
                        }));
    server_.methods.Add("/t/OneByOne", rpc::StreamMethod([this](std::shared_ptr<rpc::Call> call) {
                          held_.Update([&](auto& value) { value = call; });
                          return std::make_unique<OneByOne>(std::move(call), received_);
                        }));
  }

  void AddSingle(std::string path, rpc::SingleRequestMethod method) {
    server_.methods.Add(std::move(path), std::move(method));
  }
  bool WaitForCancel() {
    return cancelled_.WaitFor([](int count) { return count == 1; });
  }
  bool WaitForHeld() {
    return held_.WaitFor([](const auto& call) { return call != nullptr; });
  }

  std::vector<std::jthread> threads_;
  http::Watched<int> cancelled_;
  http::Watched<std::shared_ptr<rpc::Call>> held_;
  http::Watched<std::vector<std::string>> events_;
  http::Watched<size_t> received_;
  GrpcTestServer server_;
};

TEST_F(GrpcTest, AnswersUnaryCalls) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  for (const char* path : {"/t/Echo", "/t/Elsewhere"}) {
    const http::TestAnswer answer = client.Call(path, "hello");
    EXPECT_EQ(answer.http_status(), 200);
    EXPECT_EQ(answer.headers.at("content-type"), "application/grpc");
    EXPECT_EQ(answer.grpc_status(), 0);
    EXPECT_THAT(answer.messages(), ElementsAre("hello"));
    EXPECT_EQ(answer.header_blocks, 2u);
  }
  EXPECT_THAT(client.Call("/t/Echo", "").messages(), ElementsAre(""));
}

TEST_F(GrpcTest, SendsBatchesAndThenTheEnd) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const http::TestAnswer answer = client.Call("/t/Batches", "");
  EXPECT_THAT(answer.messages(), ElementsAre("one", "two", "three"));
  EXPECT_EQ(answer.grpc_status(), Number(Code::kAborted));
}

TEST_F(GrpcTest, AnErrorThatStaysComesAfterAHead) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const http::TestAnswer answer = client.Call("/t/Fail", "x");
  EXPECT_EQ(answer.http_status(), 200);
  EXPECT_EQ(answer.grpc_status(), Number(Code::kNotFound));
  EXPECT_EQ(answer.headers.at("grpc-message"), "no \"caf%C3%A9\"%0A");
  EXPECT_EQ(answer.header_blocks, 2u);
  EXPECT_EQ(answer.error_code, 0u);
}

TEST_F(GrpcTest, AnErrorThatMayPassIsTrailersOnly) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const http::TestAnswer answer = client.CallRaw("/t/Echo", "\x07");
  EXPECT_EQ(answer.http_status(), 200);
  EXPECT_EQ(answer.grpc_status(), Number(Code::kInternal));
  EXPECT_EQ(answer.header_blocks, 1u);
}

TEST_F(GrpcTest, RefusesWhatIsNotACall) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  EXPECT_EQ(client.Call("/t/None", "x").grpc_status(), Number(Code::kUnimplemented));
  EXPECT_EQ(client.Get("/t/Echo").http_status(), 405);
  const int32_t stream = client.Open("POST", "/t/Echo", {{"content-type", "application/json"}});
  client.EndBody(stream);
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_EQ(client.answer(stream).http_status(), 415);
  const int32_t other = client.Open("POST", "/t/Echo", {{"content-type", "application/grpcs"}});
  client.EndBody(other);
  ASSERT_TRUE(client.UntilClosed(other));
  EXPECT_EQ(client.answer(other).http_status(), 415);
  EXPECT_EQ(client.Get("/none").http_status(), 404);
}

TEST_F(GrpcTest, TakesContentTypeVariants) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  for (const char* type : {"application/grpc+proto", "application/grpc;charset=utf-8"}) {
    const int32_t stream = client.Open("POST", "/t/Echo", {{"content-type", type}});
    client.SendBody(stream, TestFrame("x"));
    client.EndBody(stream);
    ASSERT_TRUE(client.UntilClosed(stream));
    EXPECT_EQ(client.answer(stream).grpc_status(), 0) << type;
  }
}

TEST_F(GrpcTest, AUnaryCallHasExactlyOneMessage) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  EXPECT_EQ(client.CallRaw("/t/Echo", "").grpc_status(), Number(Code::kUnimplemented));
  EXPECT_EQ(client.CallRaw("/t/Echo", TestFrame("a") + TestFrame("b")).grpc_status(),
            Number(Code::kUnimplemented));
}

TEST_F(GrpcTest, RefusesTruncatedFrames) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  for (const size_t size : {1u, 4u, 5u, 9u}) {
    const std::string part = TestFrame("hello").substr(0, size);
    EXPECT_EQ(client.CallRaw("/t/Echo", part).grpc_status(), Number(Code::kInternal)) << size;
    EXPECT_EQ(client.CallRaw("/t/Bidi", part).grpc_status(), Number(Code::kInternal)) << size;
  }
  EXPECT_EQ(client.CallRaw("/t/Echo", std::string("\7\0\0\0\0", 5)).grpc_status(),
            Number(Code::kInternal));
}

TEST_F(GrpcTest, BothSidesOfTheMessageLimit) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  EXPECT_THAT(client.Call("/t/Size", std::string(kMessageBytesMax, 'x')).messages(),
              ElementsAre(std::to_string(kMessageBytesMax)));
  const http::TestAnswer exceeds = client.Call("/t/Size", std::string(kMessageBytesMax + 1, 'x'));
  EXPECT_EQ(exceeds.grpc_status(), Number(Code::kResourceExhausted));
  EXPECT_EQ(client.Call("/t/Echo", "still there").grpc_status(), 0);
}

TEST_F(GrpcTest, SendsLargeAnswersWhole) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  std::string message(kMessageBytesMax, '\0');
  for (size_t i = 0; i < message.size(); ++i) message[i] = static_cast<char>(i * 7 % 251);
  EXPECT_THAT(client.Call("/t/Echo", message).messages(), ElementsAre(message));
}

TEST_F(GrpcTest, BoundsTheUnfinishedRequestsOfAConnection) {
  server_.options.connection.buffered_request_bytes_max = 100'000;
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const int32_t first = client.OpenGrpc("/t/Size");
  client.SendBody(first, TestFrame(std::string(60'000, 'x')).substr(0, 60'000));
  ASSERT_TRUE(client.RoundTrip());
  EXPECT_EQ(client.Call("/t/Size", std::string(60'000, 'x')).grpc_status(),
            Number(Code::kResourceExhausted));
  EXPECT_EQ(client.Call("/t/Size", std::string(30'000, 'x')).grpc_status(), 0);
  client.Reset(first);
  ASSERT_TRUE(client.RoundTrip());
  EXPECT_EQ(client.Call("/t/Size", std::string(60'000, 'x')).grpc_status(), 0);
}

TEST_F(GrpcTest, UnpacksGzip) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const http::TestHeaders gzip = {{"grpc-encoding", "gzip"}};
  EXPECT_THAT(client.CallRaw("/t/Echo", TestFrame(Gzip("hello"), true), gzip).messages(),
              ElementsAre("hello"));
  EXPECT_THAT(client.CallRaw("/t/Echo", TestFrame("plain"), gzip).messages(), ElementsAre("plain"));
  EXPECT_EQ(client.CallRaw("/t/Echo", TestFrame("not gzip", true), gzip).grpc_status(),
            Number(Code::kInternal));
  EXPECT_EQ(client.CallRaw("/t/Echo", TestFrame(Gzip("hello"), true)).grpc_status(),
            Number(Code::kInternal));
  const std::string bomb = Gzip(std::string(kMessageBytesMax + 1, '\0'));
  ASSERT_LT(bomb.size(), 20'000u);
  EXPECT_EQ(client.CallRaw("/t/Size", TestFrame(bomb, true), gzip).grpc_status(),
            Number(Code::kResourceExhausted));
}

TEST_F(GrpcTest, NamesTheEncodingsItTakes) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const http::TestAnswer answer =
      client.CallRaw("/t/Echo", TestFrame("x"), {{"grpc-encoding", "br"}});
  EXPECT_EQ(answer.grpc_status(), Number(Code::kUnimplemented));
  EXPECT_EQ(answer.headers.at("grpc-accept-encoding"), "identity,gzip");
}

TEST_F(GrpcTest, TheDeadlineEndsACall) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const http::TestAnswer answer = client.Call("/t/Never", "x", {{"grpc-timeout", "20m"}});
  EXPECT_EQ(answer.grpc_status(), Number(Code::kDeadlineExceeded));
  EXPECT_TRUE(WaitForCancel());
  EXPECT_TRUE(held_.Get()->closed());
  held_.Get()->Respond(std::string("too late"));
  EXPECT_EQ(client.Call("/t/Echo", "x").grpc_status(), 0);
}

TEST_F(GrpcTest, TheDeadlineEndsAStreamAndAHalfSentRequest) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const int32_t stream = client.OpenGrpc("/t/Bidi", {{"grpc-timeout", "500m"}});
  client.SendBody(stream, TestFrame("one"));
  const int32_t half = client.OpenGrpc("/t/Echo", {{"grpc-timeout", "500m"}});
  client.SendBody(half, TestFrame("half").substr(0, 7));
  ASSERT_TRUE(client.UntilClosed(stream));
  ASSERT_TRUE(client.UntilClosed(half));
  EXPECT_EQ(client.answer(stream).grpc_status(), Number(Code::kDeadlineExceeded));
  EXPECT_THAT(client.answer(stream).messages(), ElementsAre("one"));
  EXPECT_EQ(client.answer(half).grpc_status(), Number(Code::kDeadlineExceeded));
  EXPECT_TRUE(WaitForCancel());
}

TEST_F(GrpcTest, WhatComesAfterItsDeadlineIsNotBegun) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const http::TestAnswer answer = client.Call("/t/Echo", "x", {{"grpc-timeout", "1n"}});
  EXPECT_EQ(answer.grpc_status(), Number(Code::kDeadlineExceeded));
}

TEST_F(GrpcTest, ACallAnsweredInTimeIsNotCancelled) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  EXPECT_EQ(client.Call("/t/Elsewhere", "x", {{"grpc-timeout", "1H"}}).grpc_status(), 0);
  const int32_t stream = client.OpenGrpc("/t/Bidi", {{"grpc-timeout", "1H"}});
  client.EndBody(stream);
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_EQ(client.answer(stream).grpc_status(), 0);
  EXPECT_EQ(cancelled_.Get(), 0);
}

TEST_F(GrpcTest, AResetCancels) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const int32_t stream = client.OpenGrpc("/t/Never");
  client.SendBody(stream, TestFrame("x"));
  client.EndBody(stream);
  ASSERT_TRUE(WaitForHeld());
  EXPECT_FALSE(held_.Get()->closed());
  http::Watched<bool> has_ended;
  const std::stop_callback on_end(held_.Get()->end_token(),
                                  [&] { has_ended.Update([](bool& value) { value = true; }); });
  client.Reset(stream);
  EXPECT_TRUE(WaitForCancel());
  EXPECT_TRUE(held_.Get()->closed());
  EXPECT_TRUE(has_ended.WaitFor([](bool value) { return value; }));
  // A callback that is registered too late runs immediately, on the loop.
  http::Watched<bool> late;
  held_.Get()->OnCancelled([&] { late.Update([](bool& value) { value = true; }); });
  EXPECT_TRUE(late.WaitFor([](bool value) { return value; }));
  EXPECT_EQ(client.Call("/t/Echo", "x").grpc_status(), 0);
}

TEST_F(GrpcTest, ALostConnectionCancels) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const int32_t stream = client.OpenGrpc("/t/Never");
  client.SendBody(stream, TestFrame("x"));
  client.EndBody(stream);
  ASSERT_TRUE(WaitForHeld());
  client.socket().Close();
  EXPECT_TRUE(WaitForCancel());
  held_.Get()->Send("nobody is there");
  held_.Get()->Finish(Status());
}

TEST_F(GrpcTest, ACallKnowsWhenItsClientHasLeft) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const auto hold = [&] {
    held_.Update([](auto& call) { call = nullptr; });
    const int32_t stream = client.OpenGrpc("/t/Never");
    client.SendBody(stream, TestFrame("x"));
    client.EndBody(stream);
    EXPECT_TRUE(WaitForHeld());
    return held_.Get();
  };
  const std::shared_ptr<rpc::Call> finished = hold();
  finished->Finish(Status());
  EXPECT_FALSE(finished->client()->has_left());
  const std::shared_ptr<rpc::Call> open = hold();
  EXPECT_EQ(open->client(), finished->client());
  client.socket().Close();
  EXPECT_TRUE(WaitForCancel());
  EXPECT_TRUE(finished->client()->has_left());
}

TEST_F(GrpcTest, ACallMayOutliveTheServer) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const int32_t stream = client.OpenGrpc("/t/Never");
  client.SendBody(stream, TestFrame("x"));
  client.EndBody(stream);
  ASSERT_TRUE(WaitForHeld());
  server_.server.reset();
  EXPECT_EQ(cancelled_.Get(), 1);
  const std::shared_ptr<rpc::Call> call = held_.Get();
  EXPECT_TRUE(call->closed());
  EXPECT_EQ(call->head().path(), "/t/Never");
  call->OnCancelled([] {});
  call->WhenWritable([] {});
  call->Respond(std::string("nobody is there"));
}

TEST_F(GrpcTest, AServerThatEndsTellsStreams) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const int32_t stream = client.OpenGrpc("/t/Bidi");
  client.SendBody(stream, TestFrame("hello"));
  ASSERT_TRUE(client.Until([&] { return !client.answer(stream).messages().empty(); }));
  auto drained = std::async(std::launch::async, [&] { return server_.server->Drain(20s); });
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_EQ(client.answer(stream).grpc_status(), Number(Code::kUnavailable));
  EXPECT_TRUE(client.UntilConnectionEnds());
  client.socket().Close();
  EXPECT_TRUE(drained.get());
}

TEST_F(GrpcTest, MessagesFlowBothWays) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const int32_t stream = client.OpenGrpc("/t/Bidi");
  for (size_t i = 1; i <= 100; ++i) {
    client.SendBody(stream, TestFrame("m" + std::to_string(i)));
    ASSERT_TRUE(client.Until([&] { return client.answer(stream).messages().size() == i; }));
  }
  client.SendBody(stream, TestFrame("a") + TestFrame("b") + TestFrame("c").substr(0, 3));
  ASSERT_TRUE(client.Until([&] { return client.answer(stream).messages().size() == 102; }));
  client.SendBody(stream, TestFrame("c").substr(3));
  client.EndBody(stream);
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_EQ(client.answer(stream).messages().back(), "c");
  EXPECT_EQ(client.answer(stream).grpc_status(), 0);
  EXPECT_EQ(cancelled_.Get(), 0);
}

TEST_F(GrpcTest, AServerMayFinishFirst) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const int32_t stream = client.OpenGrpc("/t/Bidi");
  client.SendBody(stream, TestFrame("one") + TestFrame("finish") + TestFrame("ignored"));
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_EQ(client.answer(stream).grpc_status(), Number(Code::kAborted));
  EXPECT_EQ(client.answer(stream).error_code, 0u);  // NO_ERROR: stop sending.
  EXPECT_THAT(events_.Get(), ElementsAre("one", "finish"));
}

TEST_F(GrpcTest, ABadFrameOnAStreamCancelsIt) {
  server_.Start();
  http::TestHttp2Client client(server_.port());
  const int32_t stream = client.OpenGrpc("/t/Bidi");
  client.SendBody(stream, TestFrame("one") + std::string("\7\0\0\0\0", 5));
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_EQ(client.answer(stream).grpc_status(), Number(Code::kInternal));
  EXPECT_TRUE(WaitForCancel());
}

TEST_F(GrpcTest, APausedReceiverHoldsTheClientBack) {
  server_.options.connection.stream_window_bytes = 100'000;
  server_.Start();
  http::TestHttp2Client client(server_.port());
  constexpr size_t kMessages = 1'000;
  const std::string frame = TestFrame(std::string(995, 'x'));
  const int32_t stream = client.OpenGrpc("/t/OneByOne");
  for (size_t i = 0; i < kMessages; ++i) client.SendBody(stream, frame);
  client.EndBody(stream);
  ASSERT_TRUE(client.RoundTrip());
  ASSERT_TRUE(client.RoundTrip());
  // The window is full, and only one message has been delivered.
  EXPECT_EQ(received_.Get(), 1u);
  EXPECT_GE(client.unsent_bytes(stream), kMessages * frame.size() - 100'000);

  std::jthread worker([&] {
    for (size_t i = 1; i <= kMessages; ++i) {
      if (!received_.WaitFor([&](size_t count) { return count >= i; })) return;
      held_.Get()->ResumeReceiving();
    }
  });
  EXPECT_TRUE(client.UntilClosed(stream));
  EXPECT_EQ(client.answer(stream).grpc_status(), 0);
  EXPECT_EQ(received_.Get(), kMessages);
}

// Sends `count` messages of 10,000 bytes as fast as the client reads them.
class Producer : public std::enable_shared_from_this<Producer> {
 public:
  Producer(std::shared_ptr<rpc::Call> call, int count, http::Watched<int>& sent)
      : call_(std::move(call)), left_(count), sent_(sent) {}
  void Run() {
    if (left_-- == 0) return call_->Finish(Status());
    call_->Send(std::string(10'000, 'x'));
    sent_.Update([](int& count) { ++count; });
    call_->WhenWritable([self = shared_from_this()] { self->Run(); });
  }

 private:
  const std::shared_ptr<rpc::Call> call_;  // Shared with the connection.
  int left_;
  http::Watched<int>& sent_;
};

TEST_F(GrpcTest, AStreamIsProducedNoFasterThanItIsRead) {
  http::Watched<int> sent;
  AddSingle("/t/Many", [&](std::shared_ptr<rpc::Call> call, std::string_view) {
    std::make_shared<Producer>(std::move(call), 2'000, sent)->Run();
  });
  server_.Start();
  http::TestHttp2Client client(server_.port(), {.opens_windows = false});
  const int32_t stream = client.OpenGrpc("/t/Many");
  client.SendBody(stream, TestFrame("go"));
  client.EndBody(stream);
  // The client's window of 65,535 bytes fills up, and then the send queue.
  ASSERT_TRUE(client.Until([&] { return client.answer(stream).body.size() == 65'535; }));
  EXPECT_TRUE(sent.WaitFor([](int count) { return count >= 13; }));
  ASSERT_TRUE(client.RoundTrip());
  ASSERT_TRUE(client.RoundTrip());
  EXPECT_LE(sent.Get(), 14);

  // Continued reading lets it run to the end.
  while (!client.answer(stream).closed) {
    const auto window = static_cast<int32_t>(client.answer(stream).body.size()) + 1'000'000;
    nghttp2_session_set_local_window_size(client.session(), NGHTTP2_FLAG_NONE, stream, window);
    nghttp2_session_set_local_window_size(client.session(), NGHTTP2_FLAG_NONE, 0, window);
    const size_t before = client.answer(stream).body.size();
    ASSERT_TRUE(client.Until([&] {
      return client.answer(stream).closed || client.answer(stream).body.size() > before;
    }));
    nghttp2_session_consume(client.session(), stream, client.answer(stream).body.size() - before);
  }
  EXPECT_EQ(client.answer(stream).messages().size(), 2'000u);
  EXPECT_EQ(client.answer(stream).grpc_status(), 0);
}

TEST_F(GrpcTest, ManyClientsAtOnce) {
  server_.options.loops = 2;
  server_.Start();
  std::vector<std::jthread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      http::TestHttp2Client client(server_.port());
      std::vector<std::pair<int32_t, std::string>> calls;
      for (int i = 0; i < 300; ++i) {
        const std::string text = std::to_string(c) + "/" + std::to_string(i);
        const int32_t stream = client.OpenGrpc(i % 7 == 0 ? "/t/Bidi" : "/t/Echo");
        client.SendBody(stream, TestFrame(text));
        client.EndBody(stream);
        calls.emplace_back(stream, text);
      }
      for (const auto& [stream, text] : calls) {
        ASSERT_TRUE(client.UntilClosed(stream));
        EXPECT_THAT(client.answer(stream).messages(), ElementsAre(text));
      }
    });
  }
}

}  // namespace
}  // namespace hearth::doors::grpc
