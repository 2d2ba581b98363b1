// Clients that do not read their answers, trickle their requests or send bombs, through a real
// server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "doors/grpc/testing/grpc_test_server.h"
#include "http/gzip.h"
#include "http/testing/test_http2_client.h"

namespace hearth::doors::grpc {
namespace {

using namespace http;

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr size_t kMebibyte = 1024 * 1024;
constexpr size_t kLargeBytes = 256 * 1024;
// The first message of a stream that is served must arrive within this time, also on a busy
// machine.
constexpr auto kFirstMessageWithin = 1s;

class GreedyClientsTest : public testing::Test {
 protected:
  GreedyClientsTest() {
    server_.options.memory = &memory_;
    server_.methods.Add("/t/Echo",
                        rpc::SingleRequestMethod([](auto call, std::string_view request) {
                          call->Respond(std::string(request));
                        }));
    server_.methods.Add("/t/Large", rpc::SingleRequestMethod([this](auto call, std::string_view) {
                          started_.Update([](size_t& count) { ++count; });
                          call->Respond(std::string(kLargeBytes, 'x'));
                        }));
    server_.methods.Add("/t/Length",
                        rpc::SingleRequestMethod([this](auto call, std::string_view request) {
                          on_loop_.Update([&](std::vector<bool>& all) {
                            all.push_back(static_cast<EventLoop&>(call->executor()).InLoop());
                          });
                          call->Respond(std::to_string(request.size()));
                        }));
    server_.methods.Add("/t/Count", rpc::StreamMethod([this](auto call) {
                          opened_.Update([](size_t& count) { ++count; });
                          return std::make_unique<Lengths>(std::move(call));
                        }));
  }
  ~GreedyClientsTest() override { server_.server.reset(); }

  // Answers each message with its length.
  class Lengths final : public rpc::Receiver {
   public:
    explicit Lengths(std::shared_ptr<rpc::Call> call) : call_(std::move(call)) {}
    void OnMessage(std::string_view message) override {
      call_->Send(std::to_string(message.size()));
    }
    void OnHalfClose() override { call_->Finish(Status()); }

   private:
    const std::shared_ptr<rpc::Call> call_;
  };

  static int32_t OpenUnary(TestHttp2Client& client, std::string_view path) {
    const int32_t stream = client.OpenGrpc(path);
    client.SendBody(stream, TestFrame("x"));
    client.EndBody(stream);
    return stream;
  }

  MemoryBudget memory_{64 * kMebibyte};
  Watched<size_t> started_;
  Watched<size_t> opened_;
  Watched<std::vector<bool>> on_loop_;
  ThreadPool background_{2, 100};
  GrpcTestServer server_{{.loop_message_bytes_max = 1'000,
                          .background =
                              [this](ClientKey, Task task) {
                                background_.Post(std::move(task));
                                return Status();
                              },
                          .memory = &memory_}};
};

TEST_F(GreedyClientsTest, NothingIsComputedForAClientThatDoesNotRead) {
  server_.Start();
  TestHttp2Client client(server_.port(), {.stream_window_bytes = 0, .opens_windows = false});
  std::vector<int32_t> streams;
  for (int i = 0; i < 200; ++i) streams.push_back(OpenUnary(client, "/t/Large"));
  ASSERT_TRUE(client.RoundTrip());
  // As many as make up the limit of unread bytes.
  EXPECT_EQ(started_.Get(), 16 * kMebibyte / kLargeBytes);
  EXPECT_LT(memory_.used_bytes(), 17 * kMebibyte);

  TestHttp2Client other(server_.port());
  EXPECT_EQ(other.Call("/t/Echo", "x").grpc_status(), 0);

  // Once it reads, it gets everything.
  nghttp2_session_set_local_window_size(client.session(), NGHTTP2_FLAG_NONE, 0, 0x7fffffff);
  for (const int32_t stream : streams) {
    nghttp2_session_set_local_window_size(client.session(), NGHTTP2_FLAG_NONE, stream,
                                          static_cast<int32_t>(kMebibyte));
  }
  for (const int32_t stream : streams) {
    ASSERT_TRUE(client.UntilClosed(stream));
    EXPECT_EQ(client.answer(stream).grpc_status(), 0);
  }
  EXPECT_EQ(started_.Get(), 200u);
}

TEST_F(GreedyClientsTest, AnswersForWhichThereIsNoMemoryAreBrokenOff) {
  server_.Start();
  TestHttp2Client client(server_.port());
  memory_.Take(64 * kMebibyte - 128 * 1024);
  const int32_t large = OpenUnary(client, "/t/Large");
  ASSERT_TRUE(client.UntilClosed(large));
  // gRPC clients report this as RESOURCE_EXHAUSTED.
  EXPECT_EQ(client.answer(large).error_code, static_cast<uint32_t>(NGHTTP2_ENHANCE_YOUR_CALM));
  EXPECT_EQ(client.Call("/t/Echo", "x").grpc_status(), 0);
  memory_.Return(64 * kMebibyte - 128 * 1024);
  EXPECT_EQ(client.Call("/t/Large", "x").grpc_status(), 0);
}

TEST_F(GreedyClientsTest, AStreamThatIsNotReadEndsEvenIfPingsAreAnswered) {
  server_.options.connection.send_stall_timeout = 50ms;
  server_.options.connection.ping_interval = 10ms;
  server_.Start();
  TestHttp2Client client(server_.port(), {.stream_window_bytes = 0, .opens_windows = false});
  const int32_t stream = OpenUnary(client, "/t/Large");
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_EQ(client.answer(stream).error_code, static_cast<uint32_t>(NGHTTP2_ENHANCE_YOUR_CALM));
  EXPECT_GE(client.pings_received(), 1u);
}

TEST_F(GreedyClientsTest, ARequestThatMakesNoProgressEnds) {
  server_.options.connection.body_period = kFirstMessageWithin;
  server_.Start();
  TestHttp2Client client(server_.port());
  const int32_t idle = client.OpenGrpc("/t/Count");  // A stream may be silent between messages.
  client.SendBody(idle, TestFrame("abc"));
  const int32_t unfinished = client.OpenGrpc("/t/Echo");
  client.SendBody(unfinished, TestFrame("unfinished").substr(0, 7));
  const int32_t half_message = client.OpenGrpc("/t/Count");
  client.SendBody(half_message, TestFrame("unfinished").substr(0, 7));
  ASSERT_TRUE(client.UntilClosed(unfinished));
  ASSERT_TRUE(client.UntilClosed(half_message));
  EXPECT_EQ(client.answer(unfinished).error_code, static_cast<uint32_t>(NGHTTP2_ENHANCE_YOUR_CALM));
  client.EndBody(idle);
  ASSERT_TRUE(client.UntilClosed(idle));
  EXPECT_THAT(client.answer(idle).messages(), ElementsAre("3"));
}

TEST_F(GreedyClientsTest, AMessageThatWaitsForItsReceiverIsNotOwed) {
  // Pauses after its first message.
  class Pausing final : public rpc::Receiver {
   public:
    explicit Pausing(std::shared_ptr<rpc::Call> call) : call_(std::move(call)) {}
    void OnMessage(std::string_view message) override {
      if (std::exchange(is_first_, false)) call_->PauseReceiving();
      call_->Send(std::string(message));
    }
    void OnHalfClose() override { call_->Finish(Status()); }

   private:
    const std::shared_ptr<rpc::Call> call_;
    bool is_first_ = true;
  };
  Watched<std::shared_ptr<rpc::Call>> paused;
  server_.methods.Add("/t/Pause", rpc::StreamMethod([&](std::shared_ptr<rpc::Call> call) {
                        paused.Update([&](auto& value) { value = call; });
                        return std::make_unique<Pausing>(std::move(call));
                      }));
  server_.options.connection.body_period = kFirstMessageWithin;
  server_.Start();
  TestHttp2Client client(server_.port());
  const int32_t stream = client.OpenGrpc("/t/Pause");
  client.SendBody(stream, TestFrame("a") + TestFrame("b"));
  // Once this has ended, the other one would have ended as well.
  const int32_t half_message = client.OpenGrpc("/t/Count");
  client.SendBody(half_message, TestFrame("unfinished").substr(0, 7));
  ASSERT_TRUE(client.UntilClosed(half_message));
  ASSERT_TRUE(client.RoundTrip());
  EXPECT_FALSE(client.answer(stream).closed);
  paused.Get()->ResumeReceiving();
  client.EndBody(stream);
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_THAT(client.answer(stream).messages(), ElementsAre("a", "b"));
  paused.Update([](auto& value) { value = nullptr; });
}

TEST_F(GreedyClientsTest, AStreamMustBeginWithAMessage) {
  server_.options.connection.body_period = 50ms;
  server_.Start();
  TestHttp2Client client(server_.port());
  const int32_t silent = client.OpenGrpc("/t/Count");
  ASSERT_TRUE(client.UntilClosed(silent));
  EXPECT_EQ(client.answer(silent).error_code, static_cast<uint32_t>(NGHTTP2_ENHANCE_YOUR_CALM));
}

TEST_F(GreedyClientsTest, IdleConnectionsCountAgainstTheMemory) {
  server_.Start();
  constexpr size_t kConnections = 50;
  std::vector<std::unique_ptr<TestHttp2Client>> clients;
  for (size_t i = 0; i < kConnections; ++i) {
    clients.push_back(std::make_unique<TestHttp2Client>(server_.port()));
    ASSERT_TRUE(clients.back()->RoundTrip());
  }
  EXPECT_GE(memory_.used_bytes(), kConnections * 12 * 1024);
}

TEST_F(GreedyClientsTest, HeadsCountAgainstTheMemory) {
  server_.Start();
  TestHttp2Client client(server_.port());
  constexpr size_t kHeadBytes = 12 * 1024;
  constexpr size_t kStreams = 200;
  const TestHeaders large = {{"x", std::string(kHeadBytes, 'x')}};
  std::vector<int32_t> streams;
  ASSERT_TRUE(client.RoundTrip());  // It opens more streams once it knows how many it may open.
  for (size_t i = 0; i < kStreams; ++i) streams.push_back(client.OpenGrpc("/t/Count", large));
  while (opened_.Get() < kStreams) ASSERT_TRUE(client.RoundTrip());
  EXPECT_GE(memory_.used_bytes(), kStreams * (kHeadBytes + kRequestBytes));
  for (const int32_t stream : streams) client.Reset(stream);
  ASSERT_TRUE(client.RoundTrip());
  EXPECT_LT(memory_.used_bytes(), kMebibyte);

  // Without memory, they are refused.
  memory_.Take(63 * kMebibyte);
  streams.clear();
  for (size_t i = 0; i < kStreams; ++i) streams.push_back(client.OpenGrpc("/t/Count", large));
  ASSERT_TRUE(client.UntilClosed(streams.back()));
  EXPECT_EQ(client.answer(streams.back()).error_code,
            static_cast<uint32_t>(NGHTTP2_ENHANCE_YOUR_CALM));
  EXPECT_FALSE(client.answer(streams.front()).closed);
  client.SendBody(streams.front(), TestFrame("abc"));
  client.EndBody(streams.front());
  ASSERT_TRUE(client.UntilClosed(streams.front()));
  EXPECT_THAT(client.answer(streams.front()).messages(), ElementsAre("3"));
  memory_.Return(63 * kMebibyte);
}

TEST_F(GreedyClientsTest, AnAnswerCountsUntilAllOfItIsRead) {
  server_.Start();
  // All but the last bytes: a message has a head of its own.
  TestHttp2Client client(server_.port(),
                         {.stream_window_bytes = kLargeBytes, .opens_windows = false});
  nghttp2_session_set_local_window_size(client.session(), NGHTTP2_FLAG_NONE, 0, 0x7fffffff);
  const int32_t stream = OpenUnary(client, "/t/Large");
  ASSERT_TRUE(client.Until([&] { return client.answer(stream).body.size() == kLargeBytes; }));
  ASSERT_TRUE(client.RoundTrip());
  EXPECT_GE(memory_.used_bytes(), kLargeBytes);
  client.Reset(stream);
  ASSERT_TRUE(client.RoundTrip());
  EXPECT_LT(memory_.used_bytes(), kLargeBytes);
}

TEST_F(GreedyClientsTest, AStreamThatIsReadByteByByteEnds) {
  server_.options.connection.send_stall_timeout = 50ms;
  server_.Start();
  TestHttp2Client client(server_.port(), {.stream_window_bytes = 0, .opens_windows = false});
  const int32_t stream = OpenUnary(client, "/t/Large");
  while (!client.answer(stream).closed) {
    nghttp2_submit_window_update(client.session(), NGHTTP2_FLAG_NONE, stream, 1);
    ASSERT_TRUE(client.RoundTrip());
    ASSERT_LT(client.answer(stream).body.size(), 32'000u);
  }
  EXPECT_EQ(client.answer(stream).error_code, static_cast<uint32_t>(NGHTTP2_ENHANCE_YOUR_CALM));
}

TEST_F(GreedyClientsTest, LargeAndCompressedMessagesAreHandledOffTheLoop) {
  server_.Start();
  TestHttp2Client client(server_.port());
  EXPECT_THAT(client.Call("/t/Length", std::string(1'000, 'x')).messages(), ElementsAre("1000"));
  EXPECT_THAT(client.Call("/t/Length", std::string(1'001, 'x')).messages(), ElementsAre("1001"));
  EXPECT_THAT(client
                  .CallRaw("/t/Length", TestFrame(Gzip("abc"), /*compressed=*/true),
                           {{"grpc-encoding", "gzip"}})
                  .messages(),
              ElementsAre("3"));
  EXPECT_THAT(on_loop_.Get(), ElementsAre(true, false, false));
}

TEST_F(GreedyClientsTest, MessagesOfAStreamKeepTheirOrder) {
  server_.Start();
  TestHttp2Client client(server_.port());
  const int32_t stream = client.OpenGrpc("/t/Count", {{"grpc-encoding", "gzip"}});
  client.SendBody(stream, TestFrame("a") + TestFrame(Gzip(std::string(50'000, 'x')), true) +
                              TestFrame("bc") + TestFrame(std::string(2'000, 'x')) +
                              TestFrame("d"));
  client.EndBody(stream);
  ASSERT_TRUE(client.UntilClosed(stream));
  EXPECT_THAT(client.answer(stream).messages(), ElementsAre("1", "50000", "2", "2000", "1"));
  EXPECT_EQ(client.answer(stream).grpc_status(), 0);
}

// Where each message was read, and delivered; and the memory claimed meanwhile.
struct Reading {
  bool read_on_loop;
  size_t claimed_bytes;
  bool delivered_on_loop;
};

class Reader final : public rpc::Receiver {
 public:
  Reader(std::shared_ptr<rpc::Call> call, const MemoryBudget& memory,
         Watched<std::vector<Reading>>& readings)
      : call_(std::move(call)), memory_(memory), readings_(readings) {}

  void OnMessage(std::string_view) override { Add({InLoop(*call_), 0, InLoop(*call_)}); }
  MessageReader ReaderForLongMessage() override {
    return [call = call_, &memory = memory_](std::string_view) -> Delivery {
      return [read_on_loop = InLoop(*call), bytes = memory.used_bytes()](Receiver& receiver) {
        auto& reader = static_cast<Reader&>(receiver);
        reader.Add({read_on_loop, bytes, InLoop(*reader.call_)});
      };
    };
  }
  void OnHalfClose() override { call_->Finish(Status()); }

 private:
  static bool InLoop(const rpc::Call& call) {
    return static_cast<EventLoop&>(call.executor()).InLoop();
  }
  void Add(Reading reading) {
    readings_.Update([&](std::vector<Reading>& all) { all.push_back(reading); });
  }

  const std::shared_ptr<rpc::Call> call_;
  const MemoryBudget& memory_;
  Watched<std::vector<Reading>>& readings_;
};

TEST_F(GreedyClientsTest, LongMessagesOfAStreamAreReadWhereTheyWereDecompressed) {
  Watched<std::vector<Reading>> readings;
  server_.methods.Add("/t/Read", rpc::StreamMethod([&](auto call) {
                        return std::make_unique<Reader>(std::move(call), memory_, readings);
                      }));
  server_.Start();
  TestHttp2Client client(server_.port());
  const int32_t stream = client.OpenGrpc("/t/Read", {{"grpc-encoding", "gzip"}});
  client.SendBody(stream, TestFrame("short") +
                              TestFrame(Gzip(std::string(9 * kMebibyte, 'x')), true) +
                              TestFrame(std::string(2'000, 'x')) + TestFrame("short"));
  client.EndBody(stream);
  ASSERT_TRUE(client.UntilClosed(stream));
  const std::vector<Reading> all = readings.Get();
  ASSERT_EQ(all.size(), 4u);
  for (const Reading& reading : all) EXPECT_TRUE(reading.delivered_on_loop);
  EXPECT_TRUE(all[0].read_on_loop);
  EXPECT_FALSE(all[1].read_on_loop);
  EXPECT_GE(all[1].claimed_bytes, 9 * kMebibyte);
  EXPECT_FALSE(all[2].read_on_loop);
  EXPECT_TRUE(all[3].read_on_loop);
}

TEST_F(GreedyClientsTest, ABombIsRefusedWhenMemoryIsScarce) {
  server_.Start();
  TestHttp2Client client(server_.port());
  const std::string bomb = TestFrame(Gzip(std::string(9 * kMebibyte, 'x')), true);
  memory_.Take(54 * kMebibyte);
  EXPECT_EQ(client.CallRaw("/t/Length", bomb, {{"grpc-encoding", "gzip"}}).grpc_status(),
            static_cast<int>(Code::kResourceExhausted));
  memory_.Return(54 * kMebibyte);
  EXPECT_THAT(client.CallRaw("/t/Length", bomb, {{"grpc-encoding", "gzip"}}).messages(),
              ElementsAre(std::to_string(9 * kMebibyte)));
}

}  // namespace
}  // namespace hearth::doors::grpc
