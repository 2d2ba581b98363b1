// Clients that do not read their answers, trickle their requests or send bombs, through a real
// server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
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
    server_.methods.Add("/t/Count", rpc::StreamMethod([](auto call) {
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
  server_.options.connection.body_period = 50ms;
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
