// Channels over the loopback, with two loops: the requests of a session arrive on both.
#include "doors/webchannel/channel_service.h"

#include <gmock/gmock.h>
#include <google/firestore/v1/firestore.pb.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "http/testing/test_server.h"
#include "http/testing/test_socket.h"

namespace hearth::doors::webchannel {
namespace {

using namespace std::chrono_literals;
using google::firestore::v1::WriteRequest;
using google::firestore::v1::WriteResponse;
using http::TestSocket;
using http::Watched;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kPath = "/google.firestore.v1.Firestore/Write/channel";

std::string Answer(const std::string& text) {
  WriteResponse response;
  response.set_stream_id(text);
  return response.SerializeAsString();
}

// The events of the method, for the test to wait for.
struct Log {
  Watched<std::vector<std::string>> received;
  Watched<int> cancelled;
  Watched<int> receivers_gone;
  Watched<size_t> produced;
  Watched<size_t> read_elsewhere;
  Watched<bool> received_on_loop{true};
  Watched<std::shared_ptr<rpc::Call>> call;
};

// Answers each message with its text; some texts are commands.
class Echo final : public rpc::Receiver {
 public:
  Echo(std::shared_ptr<rpc::Call> call, Log& log) : call_(std::move(call)), log_(log) {
    call_->OnCancelled([&log] { log.cancelled.Update([](int& count) { ++count; }); });
  }
  ~Echo() override {
    log_.receivers_gone.Update([](int& count) { ++count; });
  }

  MessageReader ReaderForLongMessage() override {
    return [&log = log_, read = rpc::Receiver::ReaderForLongMessage()](
               std::string_view message) mutable -> Delivery {
      log.read_elsewhere.Update([](size_t& count) { ++count; });
      return read(message);
    };
  }
  void OnMessage(std::string_view message) override {
    if (!static_cast<http::EventLoop&>(call_->executor()).InLoop()) {
      log_.received_on_loop.Update([](bool& value) { value = false; });
    }
    WriteRequest request;
    ASSERT_TRUE(request.ParseFromArray(message.data(), static_cast<int>(message.size())));
    const std::string& text = request.stream_id();
    if (text == "pause") call_->PauseReceiving();
    if (text == "end") return call_->Finish(Status());
    if (text == "fail") return call_->Finish(Status(Code::kNotFound, "nothing \"here\""));
    if (text == "head") return SendHead();
    if (text == "produce") return Produce(call_, log_);
    if (text == "flood") return Flood();
    if (text == "broken") return call_->Send("\xff\xff");
    if (text == "last") {
      rpc::MessageBatch batch;
      batch.Add(Answer("one"));
      batch.Add(Answer("two"));
      return call_->Finish(std::move(batch), Status());
    }
    call_->Send(Answer(text));
    log_.received.Update([&](std::vector<std::string>& all) { all.push_back(text); });
  }
  void OnHalfClose() override {}

 private:
  void SendHead() {
    std::string text;
    for (const char* name :
         {"authorization", "google-cloud-resource-prefix", "x-goog-api-client"}) {
      text += std::string(call_->head().Find(name).value_or("none")) + ";";
    }
    call_->Send(Answer(text));
  }
  // Endless: sends one message whenever there is room.
  static void Produce(const std::shared_ptr<rpc::Call>& call, Log& log) {
    call->WhenWritable([call, &log] {
      call->Send(Answer(std::string(10'000, 'x')));
      log.produced.Update([](size_t& count) { ++count; });
      Produce(call, log);
    });
  }
  void Flood() {
    for (int i = 0; i < 100; ++i) call_->Send(Answer(std::string(10'000, 'x')));
  }

  const std::shared_ptr<rpc::Call> call_;
  Log& log_;
};

struct HttpAnswer {
  int status = 0;
  std::string head;
  std::string body;
};

class ChannelServiceTest : public testing::Test {
 protected:
  void Start(ChannelOptions options = {}) {
    methods_.Add("/google.firestore.v1.Firestore/Write",
                 rpc::StreamMethod([this](std::shared_ptr<rpc::Call> call) {
                   log_.call.Update([&](auto& latest) { latest = call; });
                   return std::make_unique<Echo>(std::move(call), log_);
                 }));
    methods_.Add("/google.firestore.v1.Firestore/Commit",
                 rpc::SingleRequestMethod([](auto, std::string_view) {}));
    methods_.Add("/no.Proto/Here", rpc::StreamMethod([](auto) { return std::unique_ptr<Echo>(); }));
    service_ = std::make_unique<ChannelService>(
        methods_,
        [this](ClientKey, Task task) {
          if (background_is_full_) return Status(Code::kResourceExhausted, "busy");
          background_.emplace_back([run = std::move(task)]() mutable { run(); });
          return Status();
        },
        options);
    server_.router.AddService("/google.firestore.v1.Firestore/", *service_);
    server_.router.AddService("/no.Proto/", *service_);
    server_.options.loops = 2;
    server_.Start();
  }
  void TearDown() override {
    log_.call.Update([](auto& latest) { latest = nullptr; });
    server_.server.reset();
    service_.reset();
    background_.clear();
  }

  static HttpAnswer ReadAnswer(TestSocket& socket) {
    HttpAnswer answer;
    answer.head = socket.ReadUntil("\r\n\r\n");
    if (answer.head.size() < 12) return answer;
    answer.status = std::stoi(answer.head.substr(9, 3));
    const size_t length = answer.head.find("content-length: ");
    if (length != std::string::npos) {
      answer.body = socket.ReadExactly(std::stoul(answer.head.substr(length + 16)));
    }
    return answer;
  }
  // On a connection of its own, so that the loops alternate.
  HttpAnswer Ask(std::string_view method, std::string_view target, std::string_view body,
                 std::string_view more_headers = "origin: http://localhost:5173\r\n") {
    TestSocket socket(server_.port());
    socket.Send(std::string(method) + " " + std::string(target) +
                " HTTP/1.1\r\nhost: localhost\r\n" + std::string(more_headers) +
                "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
    return ReadAnswer(socket);
  }
  static std::string Target(std::string_view query) {
    return std::string(kPath) + "?VER=8&" + std::string(query);
  }
  static std::string Body(size_t first, const std::vector<std::string>& texts) {
    std::string body = "count=" + std::to_string(texts.size()) + "&ofs=" + std::to_string(first);
    for (size_t i = 0; i < texts.size(); ++i) {
      body +=
          "&req" + std::to_string(i) + "___data__=%7B%22streamId%22%3A%22" + texts[i] + "%22%7D";
    }
    return body;
  }
  // Returns the session's id.
  std::string Handshake(const std::vector<std::string>& texts = {}) {
    const HttpAnswer answer = Ask("POST", Target("RID=1&CVER=22"), Body(0, texts));
    EXPECT_EQ(answer.status, 200) << answer.body;
    const json arrays = json::parse(answer.body.substr(answer.body.find('\n') + 1));
    EXPECT_EQ(arrays[0][1][0], "c");
    return arrays[0][1][1];
  }
  HttpAnswer Forward(const std::string& id, size_t first, const std::vector<std::string>& texts,
                     size_t acknowledged = 0) {
    return Ask("POST", Target("RID=2&SID=" + id + "&AID=" + std::to_string(acknowledged)),
               Body(first, texts));
  }
  static std::string BackRequest(const std::string& id, size_t acknowledged, int buffered) {
    return "GET " +
           Target("RID=rpc&TYPE=xmlhttp&SID=" + id + "&AID=" + std::to_string(acknowledged) +
                  "&CI=" + std::to_string(buffered)) +
           " HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost:5173\r\n\r\n";
  }
  bool WaitForReceived(const std::vector<std::string>& texts) {
    return log_.received.WaitFor([&](const auto& all) { return all == texts; });
  }

  static constexpr size_t kMemoryBytes = 300 * 1024;

  Log log_;
  MemoryBudget memory_{kMemoryBytes};
  std::atomic<bool> background_is_full_ = false;
  std::vector<std::jthread> background_;  // One request at a time uses it.
  rpc::Methods methods_;
  http::TestServer server_;
  std::unique_ptr<ChannelService> service_;
};

// Reads a back channel like a client.
class BackReader {
 public:
  BackReader(uint16_t port, const std::string& request, int receive_buffer_bytes = 0)
      : socket_(port, receive_buffer_bytes) {
    socket_.Send(request);
    head_ = socket_.ReadUntil("\r\n\r\n");
  }
  const std::string& head() const { return head_; }
  TestSocket& socket() { return socket_; }

  // The arrays of the next chunk; null at the end.
  json Next() {
    while (true) {
      const size_t end = text_.find('\n');
      if (end != std::string::npos) {
        const size_t length = BytesOf(text_.substr(end + 1), std::stoul(text_.substr(0, end)));
        if (text_.size() - end - 1 >= length) {
          const json arrays = json::parse(text_.substr(end + 1, length));
          text_.erase(0, end + 1 + length);
          return arrays;
        }
      }
      const std::string size = socket_.ReadUntil("\r\n");
      if (size.empty()) return nullptr;
      const size_t bytes = std::stoul(size, nullptr, 16);
      text_ += socket_.ReadExactly(bytes);
      socket_.ReadExactly(2);
      if (bytes == 0) return nullptr;
    }
  }
  // The ids and texts of all arrays until the end of the answer, or the first `count` of them.
  std::vector<std::pair<size_t, std::string>> Read(size_t count = SIZE_MAX) {
    std::vector<std::pair<size_t, std::string>> all;
    while (all.size() < count) {
      const json arrays = Next();
      if (arrays.is_null()) break;
      for (const json& array : arrays) all.emplace_back(array[0], TextOf(array[1][0]));
    }
    return all;
  }

 private:
  // The number of bytes of `text` that make up `units` UTF-16 units; more than its size if it has
  // fewer units.
  static size_t BytesOf(const std::string& text, size_t units) {
    size_t bytes = 0;
    for (; bytes < text.size(); ++bytes) {
      const auto byte = static_cast<unsigned char>(text[bytes]);
      if ((byte & 0xc0) == 0x80) continue;
      if (units == 0) return bytes;
      units -= byte >= 0xf0 ? 2 : 1;
    }
    return units == 0 ? bytes : bytes + 1;
  }
  static std::string TextOf(const json& message) {
    if (message.is_string()) return message;
    if (message.contains("error")) return message.dump();
    return message.value("streamId", "?");
  }

  TestSocket socket_;
  std::string head_;
  std::string text_;
};

using Arrays = std::vector<std::pair<size_t, std::string>>;

TEST_F(ChannelServiceTest, HandshakeNamesTheSession) {
  Start();
  const HttpAnswer answer =
      Ask("POST", Target("RID=1&CVER=22&X-HTTP-Session-Id=gsessionid"), "count=0");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, testing::MatchesRegex("[0-9]+\n\\[\\[0,\\[\"c\",\"[A-Za-z0-9_-]+\","
                                                 "\"\",8,12,30000\\]\\]\\]"));
  EXPECT_THAT(answer.head, HasSubstr("x-http-session-id: "));
  EXPECT_THAT(answer.head, HasSubstr("access-control-allow-origin: http://localhost:5173\r\n"));
  EXPECT_THAT(Ask("POST", Target("RID=1"), "count=0").head, Not(HasSubstr("x-http-session-id: ")));
}

TEST_F(ChannelServiceTest, StreamsWhatTheMethodSends) {
  Start();
  const std::string id = Handshake({"a"});
  BackReader back(server_.port(), BackRequest(id, 0, 0));
  EXPECT_THAT(back.head(), HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(back.head(), HasSubstr("content-type: text/plain; charset=utf-8\r\n"));
  EXPECT_THAT(back.head(), HasSubstr("access-control-allow-origin: http://localhost:5173\r\n"));
  EXPECT_EQ(back.Read(1), (Arrays{{1, "a"}}));
  const HttpAnswer answer = Forward(id, 1, {"b", "c"}, 1);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(back.Read(2), (Arrays{{2, "b"}, {3, "c"}}));
  EXPECT_TRUE(WaitForReceived({"a", "b", "c"}));
  EXPECT_THAT(Forward(id, 3, {}, 3).body, "7\n[1,3,0]");
}

TEST_F(ChannelServiceTest, ABackChannelBeginsWithASignOfLife) {
  Start();
  const std::string id = Handshake();
  BackReader back(server_.port(), BackRequest(id, 0, 0));
  EXPECT_EQ(back.Read(1), (Arrays{{1, "noop"}}));
  EXPECT_EQ(Forward(id, 0, {"a"}, 1).status, 200);
  EXPECT_EQ(back.Read(1), (Arrays{{2, "a"}}));
}

TEST_F(ChannelServiceTest, TellsWhetherThereIsABackChannel) {
  Start();
  const std::string id = Handshake();
  EXPECT_EQ(Forward(id, 0, {"a"}).body, "7\n[0,0,0]");
  BackReader back(server_.port(), BackRequest(id, 0, 0));
  EXPECT_EQ(back.Read(1), (Arrays{{1, "a"}}));
  EXPECT_THAT(Forward(id, 1, {}).body, HasSubstr("\n[1,1,"));
}

TEST_F(ChannelServiceTest, RepeatsWhatIsNotAcknowledged) {
  Start();
  const std::string id = Handshake({"a", "b"});
  {
    BackReader back(server_.port(), BackRequest(id, 0, 0));
    EXPECT_EQ(back.Read(2), (Arrays{{1, "a"}, {2, "b"}}));
  }
  BackReader again(server_.port(), BackRequest(id, 1, 0));
  EXPECT_EQ(again.Read(1), (Arrays{{2, "b"}}));
  BackReader third(server_.port(), BackRequest(id, 2, 0));
  EXPECT_EQ(again.Read(), Arrays());  // The new one has ended the old one.
  EXPECT_EQ(third.Read(1), (Arrays{{3, "noop"}}));
}

TEST_F(ChannelServiceTest, APollIsAnsweredAndEnds) {
  Start();
  const std::string id = Handshake({"a", "b"});
  ASSERT_TRUE(WaitForReceived({"a", "b"}));
  BackReader first(server_.port(), BackRequest(id, 0, 1));
  EXPECT_EQ(first.Read(), (Arrays{{1, "a"}, {2, "b"}}));
  TestSocket waiting(server_.port());
  waiting.Send(BackRequest(id, 2, 1));
  while (Forward(id, 2, {}).body.find("\n[1,") == std::string::npos) std::this_thread::yield();
  EXPECT_FALSE(waiting.readable());
  EXPECT_EQ(Forward(id, 2, {"c"}, 2).status, 200);
  EXPECT_THAT(waiting.ReadUntil("0\r\n\r\n"), HasSubstr("[[3,[{\"streamId\":\"c\"}]]]"));
}

TEST_F(ChannelServiceTest, AnEmptyPollIsAnsweredInTime) {
  Start({.keep_alive = 50ms});
  const std::string id = Handshake();
  BackReader poll(server_.port(), BackRequest(id, 0, 1));
  EXPECT_EQ(poll.Read(), (Arrays{{1, "noop"}}));
}

TEST_F(ChannelServiceTest, ASilentStreamIsKeptAlive) {
  Start({.keep_alive = 20ms});
  const std::string id = Handshake();
  BackReader back(server_.port(), BackRequest(id, 0, 0));
  EXPECT_EQ(back.Read(3), (Arrays{{1, "noop"}, {2, "noop"}, {3, "noop"}}));
}

TEST_F(ChannelServiceTest, TakesMapsOnceAndInOrder) {
  Start();
  const std::string id = Handshake({"a"});
  EXPECT_EQ(Forward(id, 3, {"d"}).status, 200);
  EXPECT_EQ(Forward(id, 1, {"b", "c"}).status, 200);
  EXPECT_EQ(Forward(id, 1, {"b", "c"}).status, 200);
  EXPECT_EQ(Forward(id, 2, {"c", "d", "e"}).status, 200);
  EXPECT_TRUE(WaitForReceived({"a", "b", "c", "d", "e"}));
}

TEST_F(ChannelServiceTest, HoldsOnlySoMuch) {
  Start({.held_maps_max = 2});
  const std::string id = Handshake();
  EXPECT_EQ(Forward(id, 1, {"b", "c"}).status, 200);
  EXPECT_EQ(Forward(id, 3, {"d"}).status, 429);
}

TEST_F(ChannelServiceTest, APausedMethodHoldsTheClientBack) {
  Start();
  const std::string id = Handshake({"pause"});
  ASSERT_TRUE(WaitForReceived({"pause"}));
  // Each is held, until there are too many.
  const std::string body = Body(1, {"a", "b"});
  std::vector<std::unique_ptr<TestSocket>> sockets;
  while (sockets.size() < kHeldAnswersMax) {
    for (const auto& socket : sockets) EXPECT_FALSE(socket->readable());
    sockets.push_back(std::make_unique<TestSocket>(server_.port()));
    sockets.back()->Send("POST " + Target("RID=2&SID=" + id) +
                         " HTTP/1.1\r\nhost: localhost\r\ncontent-length: " +
                         std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  for (const auto& socket : sockets) EXPECT_EQ(ReadAnswer(*socket).status, 200);
  EXPECT_TRUE(WaitForReceived({"pause"}));
  log_.call.Get()->ResumeReceiving();
  EXPECT_TRUE(WaitForReceived({"pause", "a", "b"}));
}

TEST_F(ChannelServiceTest, MergesTheHeads) {
  Start();
  const HttpAnswer answer = Ask("POST", Target("RID=1&database=projects%2Fp%2Fdatabases%2Fd"),
                                "headers=Authorization%3ABearer%20owner%0D%0A&" + Body(0, {"head"}),
                                "x-goog-api-client: browser\r\n");
  const json arrays = json::parse(answer.body.substr(answer.body.find('\n') + 1));
  BackReader back(server_.port(), BackRequest(arrays[0][1][1], 0, 0));
  EXPECT_EQ(back.Read(1), (Arrays{{1, "Bearer owner;projects/p/databases/d;browser;"}}));
}

TEST_F(ChannelServiceTest, AnErrorIsToldInTheChannel) {
  Start();
  const std::string id = Handshake({"fail"});
  BackReader back(server_.port(), BackRequest(id, 0, 0));
  const Arrays arrays = back.Read();
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(json::parse(arrays[0].second), json::parse(R"({"error": {"code": 404,
      "status": "NOT_FOUND", "message": "nothing \"here\""}})"));
  EXPECT_EQ(arrays[1], (std::pair<size_t, std::string>(2, "close")));
  EXPECT_TRUE(log_.receivers_gone.WaitFor([](int count) { return count == 1; }));
  EXPECT_EQ(log_.cancelled.Get(), 0);
  // The client has not acknowledged it, so it is sent again.
  EXPECT_EQ(BackReader(server_.port(), BackRequest(id, 0, 1)).Read().size(), 2u);
  EXPECT_THAT(BackReader(server_.port(), BackRequest(id, 2, 1)).head(), HasSubstr(" 400 "));
  EXPECT_EQ(service_->session_count(), 0u);
}

TEST_F(ChannelServiceTest, AGoodEndClosesTheChannel) {
  Start();
  BackReader back(server_.port(), BackRequest(Handshake({"end"}), 0, 0));
  EXPECT_EQ(back.Read(), (Arrays{{1, "close"}}));
  const std::string id = Handshake({"last"});
  BackReader last(server_.port(), BackRequest(id, 0, 0));
  EXPECT_EQ(last.Read(), (Arrays{{1, "one"}, {2, "two"}, {3, "close"}}));
  EXPECT_EQ(Forward(id, 1, {"late"}).status, 200);
}

TEST_F(ChannelServiceTest, AMessageThatIsNoneEndsTheCall) {
  Start();
  for (const char* text : {"%7B", "%7B%22nobodys%22%3A1%7D", "%5B%5D", "%FF", "", "null"}) {
    SCOPED_TRACE(text);
    const int cancelled = log_.cancelled.Get();
    const HttpAnswer answer =
        Ask("POST", Target("RID=1"), "count=1&ofs=0&req0___data__=" + std::string(text));
    ASSERT_EQ(answer.status, 200);
    if (std::string_view(text) == "null") continue;  // An empty message in protobuf.
    const json arrays = json::parse(answer.body.substr(answer.body.find('\n') + 1));
    BackReader back(server_.port(), BackRequest(arrays[0][1][1], 0, 0));
    const Arrays told = back.Read();
    ASSERT_EQ(told.size(), 2u);
    EXPECT_THAT(told[0].second, HasSubstr("INVALID_ARGUMENT"));
    EXPECT_TRUE(log_.cancelled.WaitFor([&](int count) { return count == cancelled + 1; }));
  }
}

TEST_F(ChannelServiceTest, AnAnswerThatIsNoMessageEndsTheCall) {
  Start();
  BackReader back(server_.port(), BackRequest(Handshake({"broken"}), 0, 0));
  const Arrays arrays = back.Read();
  ASSERT_FALSE(arrays.empty());
  EXPECT_THAT(arrays[0].second == "noop" ? arrays[1].second : arrays[0].second,
              HasSubstr("INTERNAL"));
  EXPECT_TRUE(log_.cancelled.WaitFor([](int count) { return count == 1; }));
}

TEST_F(ChannelServiceTest, TerminateCancelsTheCall) {
  Start();
  const std::string id = Handshake({"a"});
  BackReader back(server_.port(), BackRequest(id, 0, 0));
  EXPECT_EQ(back.Read(1), (Arrays{{1, "a"}}));
  EXPECT_EQ(Ask("POST", Target("RID=2&TYPE=terminate&SID=" + id), "").status, 200);
  EXPECT_TRUE(log_.cancelled.WaitFor([](int count) { return count == 1; }));
  EXPECT_EQ(back.Read(), Arrays());
  EXPECT_TRUE(log_.receivers_gone.WaitFor([](int count) { return count == 1; }));
  EXPECT_EQ(service_->session_count(), 0u);
  EXPECT_EQ(Ask("GET", Target("RID=2&TYPE=terminate&SID=" + id), "").status, 400);
}

TEST_F(ChannelServiceTest, ASessionWithoutABackChannelEnds) {
  Start({.session_timeout = 50ms});
  std::vector<std::string> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(Handshake({"a"}));
  EXPECT_TRUE(log_.cancelled.WaitFor([](int count) { return count == 20; }));
  EXPECT_TRUE(log_.receivers_gone.WaitFor([](int count) { return count == 20; }));
  for (const std::string& id : ids) EXPECT_EQ(Forward(id, 1, {}).status, 400);
  EXPECT_EQ(service_->session_count(), 0u);
}

TEST_F(ChannelServiceTest, ALostBackChannelIsNoticed) {
  // The back channel must arrive within this time, also on a busy machine.
  Start({.session_timeout = 1s, .keep_alive = 10min});
  const std::string id = Handshake();
  BackReader back(server_.port(), BackRequest(id, 0, 0));
  EXPECT_EQ(back.Read(1), (Arrays{{1, "noop"}}));
  EXPECT_EQ(log_.cancelled.Get(), 0);
  back.socket().Close();
  EXPECT_TRUE(log_.cancelled.WaitFor([](int count) { return count == 1; }));
}

TEST_F(ChannelServiceTest, BoundsTheSessions) {
  Start({.sessions_max = 2});
  Handshake();
  const std::string id = Handshake();
  EXPECT_EQ(Ask("POST", Target("RID=1"), "count=0").status, 503);
  Ask("POST", Target("RID=2&TYPE=terminate&SID=" + id), "");
  EXPECT_TRUE(log_.receivers_gone.WaitFor([](int count) { return count == 1; }));
  Handshake();
}

TEST_F(ChannelServiceTest, AClientGetsItsShareOfTheSessions) {
  Start({.sessions_max = 4});
  TestSocket greedy(server_.port());
  for (const int status : {200, 200, 503}) {
    greedy.Send("POST " + Target("RID=1") +
                " HTTP/1.1\r\nhost: localhost\r\ncontent-length: 7\r\n\r\ncount=0");
    EXPECT_EQ(ReadAnswer(greedy).status, status);
  }
  Handshake();  // On a connection of its own.
}

TEST_F(ChannelServiceTest, BoundsTheMemoryOfSessions) {
  Start({.memory = &memory_});
  const std::string id = Handshake();
  EXPECT_GE(memory_.used_bytes(), kSessionBytes);
  // More than there is: the session of a client that does not read ends, and a new one can begin.
  Forward(id, 0, {"flood"});
  EXPECT_TRUE(log_.cancelled.WaitFor([](int count) { return count == 1; }));
  Handshake();
  memory_.Take(kMemoryBytes);
  EXPECT_EQ(Ask("POST", Target("RID=1"), "count=0").status, 503);
  memory_.Return(kMemoryBytes);
}

TEST_F(ChannelServiceTest, WhateverSessionsHoldLeavesRoomForShortWork) {
  Start({.memory = &memory_});
  // Nobody reads the answers. Each session is of another client, and small.
  const std::string text(40'000, 'x');
  std::vector<std::string> received;
  while (received.size() < 4) {
    Handshake({text});
    received.push_back(text);
    ASSERT_TRUE(WaitForReceived(received));
  }
  EXPECT_EQ(Ask("POST", Target("RID=1"), "count=0").status, 503);
  ASSERT_TRUE(memory_.TryTake(MemoryBudget::kSmallBytesMax));
  memory_.Return(MemoryBudget::kSmallBytesMax);
}

TEST_F(ChannelServiceTest, ANoopTakesNoSessionItsMemory) {
  Start({.keep_alive = 20ms, .memory = &memory_});
  const std::string id = Handshake();
  BackReader back(server_.port(), BackRequest(id, 0, 0));
  size_t kept_bytes = 0;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Forward(id, i, {std::string(25'000, 'x')}).status, 200);
  }
  while (kept_bytes < 75'000) {
    const Arrays arrays = back.Read(1);
    ASSERT_FALSE(arrays.empty());
    for (const auto& [array_id, text] : arrays) kept_bytes += text.size();
  }
  // For a session that keeps as much as that, there is no more.
  const size_t taken_bytes = kMemoryBytes - kMemoryBytes / 8 - memory_.used_bytes() + 1'000;
  memory_.Take(taken_bytes);
  EXPECT_FALSE(back.Read(1).empty());  // A no-op.
  EXPECT_EQ(Forward(id, 3, {}).status, 200);
  EXPECT_EQ(log_.cancelled.Get(), 0);
  memory_.Return(taken_bytes);
}

TEST_F(ChannelServiceTest, BoundsTheBody) {
  Start({.body_bytes_max = 100});
  EXPECT_EQ(Ask("POST", Target("RID=1"), std::string(101, '&')).status, 413);
  EXPECT_EQ(Ask("POST", Target("RID=1"), std::string(100, '&')).status, 200);
}

TEST_F(ChannelServiceTest, LongBodiesAreReadInTheBackground) {
  Start({.loop_body_bytes_max = 200});
  const std::string first(300, 'a');
  const std::string second(300, 'b');
  const std::string id = Handshake({first});
  EXPECT_EQ(Forward(id, 1, {second}).status, 200);
  EXPECT_TRUE(WaitForReceived({first, second}));
  EXPECT_EQ(background_.size(), 2u);
  background_is_full_ = true;
  EXPECT_EQ(Forward(id, 2, {first}).status, 503);
  EXPECT_EQ(Forward(id, 2, {"short"}).status, 200);
  EXPECT_TRUE(WaitForReceived({first, second, "short"}));
}

TEST_F(ChannelServiceTest, LongMessagesAreReadInTheBackgroundInTheirOrder) {
  Start({.loop_message_bytes_max = 100});
  const std::string first(100, 'a');
  const std::string second(300, 'b');
  const std::string id = Handshake({"1", first, "2"});
  EXPECT_TRUE(WaitForReceived({"1", first, "2"}));
  EXPECT_EQ(log_.read_elsewhere.Get(), 1u);
  EXPECT_EQ(Forward(id, 3, {second, "3", second, "4"}).status, 200);
  EXPECT_TRUE(WaitForReceived({"1", first, "2", second, "3", second, "4"}));
  EXPECT_EQ(log_.read_elsewhere.Get(), 3u);
  EXPECT_TRUE(log_.received_on_loop.Get());
  background_is_full_ = true;
  EXPECT_EQ(Forward(id, 7, {second}).status, 200);
  EXPECT_TRUE(log_.cancelled.WaitFor([](int count) { return count == 1; }));
}

TEST_F(ChannelServiceTest, TheFirstMessagesAreClaimed) {
  Start({.memory = &memory_});
  memory_.Take(kMemoryBytes - kSessionBytes - 100'000);  // Enough for a session, and then not.
  Handshake({std::string(1'000, 'a')});
  EXPECT_TRUE(WaitForReceived({std::string(1'000, 'a')}));
  std::vector<std::string> many(5, std::string(10'000, 'b'));
  Handshake(many);
  EXPECT_TRUE(log_.cancelled.WaitFor([](int count) { return count == 1; }));
  EXPECT_EQ(log_.received.Get().size(), 1u);
  memory_.Return(kMemoryBytes - kSessionBytes - 100'000);
}

TEST_F(ChannelServiceTest, AProducerWaitsForItsReader) {
  Start();
  const std::string id = Handshake({"produce"});
  // Without a reader, the producer stops.
  EXPECT_TRUE(log_.produced.WaitFor([](size_t count) { return count >= 7; }));
  Forward(id, 1, {});
  EXPECT_LT(log_.produced.Get(), 20u);
  // A reader lets it continue, over many back channels: each ends so that the client acknowledges
  // it.
  size_t last = 0;
  for (int i = 0; i < 10; ++i) {
    BackReader back(server_.port(), BackRequest(id, last, i % 2));
    for (const auto& [array_id, text] : back.Read()) {
      EXPECT_EQ(array_id, last + 1);
      last = array_id;
    }
  }
  EXPECT_GT(last, 100u);
}

TEST_F(ChannelServiceTest, ASlowReaderStopsTheProducer) {
  Start({.unacknowledged_bytes_max = SIZE_MAX});
  const std::string id = Handshake({"produce"});
  BackReader back(server_.port(), BackRequest(id, 0, 0), 4'096);
  EXPECT_FALSE(back.Next().is_null());
  // It stops when the sockets' buffers are full: the loop, which also produces, answers other
  // requests, and nothing more has been produced.
  size_t before = 0;
  do {
    before = log_.produced.Get();
    for (int i = 0; i < 10; ++i) EXPECT_EQ(Forward(id, 1, {}).status, 200);
  } while (log_.produced.Get() != before);
  back.Read(before);
  EXPECT_TRUE(log_.produced.WaitFor([&](size_t count) { return count > before; }));
}

TEST_F(ChannelServiceTest, AMethodThatDoesNotWaitLosesItsCall) {
  Start({.retained_bytes_max = 500'000});
  Handshake({"flood"});
  EXPECT_TRUE(log_.cancelled.WaitFor([](int count) { return count == 1; }));
  EXPECT_TRUE(log_.receivers_gone.WaitFor([](int count) { return count == 1; }));
  EXPECT_EQ(service_->session_count(), 0u);
}

TEST_F(ChannelServiceTest, SendsFromManyThreads) {
  Start();
  const std::string id = Handshake();
  while (!log_.call.Get()) std::this_thread::yield();
  BackReader back(server_.port(), BackRequest(id, 0, 0));
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([call = log_.call.Get()] {
      for (int count = 0; count < 100; ++count) call->Send(Answer("x"));
    });
  }
  const Arrays arrays = back.Read(401);
  ASSERT_EQ(arrays.size(), 401u);
  for (size_t i = 0; i < arrays.size(); ++i) EXPECT_EQ(arrays[i].first, i + 1);
}

TEST_F(ChannelServiceTest, TheServersEndCancelsCalls) {
  Start();
  const std::string id = Handshake({"a"});
  BackReader back(server_.port(), BackRequest(id, 0, 0));
  EXPECT_EQ(back.Read(1), (Arrays{{1, "a"}}));
  const std::shared_ptr<rpc::Call> call = log_.call.Get();
  server_.server.reset();
  service_.reset();
  EXPECT_EQ(log_.cancelled.Get(), 1);
  EXPECT_TRUE(call->closed());
  call->Send(Answer("late"));
  call->Finish(Status());
  EXPECT_EQ(log_.receivers_gone.Get(), 1);
}

TEST_F(ChannelServiceTest, AServerThatDrainsTellsItsClients) {
  Start();
  BackReader streaming(server_.port(), BackRequest(Handshake({"a"}), 0, 0));
  EXPECT_EQ(streaming.Read(1), (Arrays{{1, "a"}}));
  const std::string id = Handshake();
  TestSocket polling(server_.port());
  polling.Send(BackRequest(id, 0, 1));
  while (Forward(id, 0, {}).body.find("\n[1,") == std::string::npos) std::this_thread::yield();
  EXPECT_TRUE(server_.server->Drain(20s));  // Nothing had to be cut off.
  const Arrays arrays = streaming.Read();
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_THAT(arrays[0].second, HasSubstr("UNAVAILABLE"));
  EXPECT_EQ(arrays[1].second, "close");
  EXPECT_THAT(polling.ReadToEnd(), HasSubstr("UNAVAILABLE"));
  EXPECT_EQ(log_.cancelled.Get(), 2);
}

TEST_F(ChannelServiceTest, UnknownSessions) {
  Start();
  for (const HttpAnswer& answer :
       {Forward("nobody", 0, {"a"}), Ask("GET", Target("RID=rpc&SID=nobody&AID=0&CI=0"), ""),
        Ask("GET", Target("RID=rpc&AID=0&CI=0"), ""),
        Ask("POST", Target("RID=1&TYPE=terminate&SID=nobody"), "")}) {
    EXPECT_EQ(answer.status, 400);
    // Clients search for the words after the first character.
    EXPECT_THAT(answer.body.substr(1), HasSubstr("Unknown SID"));
    EXPECT_THAT(answer.head, HasSubstr("access-control-allow-origin: http://localhost:5173\r\n"));
  }
}

TEST_F(ChannelServiceTest, OtherMethodsHaveNoChannel) {
  Start();
  for (const char* path :
       {"/google.firestore.v1.Firestore/Commit/channel",
        "/google.firestore.v1.Firestore/Nothing/channel", "/google.firestore.v1.Firestore/channel",
        "/google.firestore.v1.Firestore/Write/channel/x", "/no.Proto/Here/channel"}) {
    EXPECT_EQ(Ask("POST", std::string(path) + "?VER=8&RID=1", "count=0").status, 404) << path;
  }
}

TEST_F(ChannelServiceTest, AnswersPreflights) {
  Start();
  const HttpAnswer answer =
      Ask("OPTIONS", Target(""), "",
          "origin: http://localhost:5173\r\naccess-control-request-method: POST\r\n"
          "access-control-request-headers: x-goog-api-client\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("access-control-allow-headers: x-goog-api-client\r\n"));
}

TEST_F(ChannelServiceTest, RubbishIsRefused) {
  Start();
  const std::string id = Handshake();
  const std::string good = Target("RID=2&SID=" + id);
  for (const auto& [method, target, body] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"POST", std::string(kPath), ""},
           {"POST", std::string(kPath) + "?%", ""},
           {"POST", Target(std::string(3'000, '&') + "RID=x"), ""},
           {"PUT", Target("RID=1"), "count=0"},
           {"GET", Target("RID=1"), ""},
           {"GET", Target("RID=rpc&CI=7&SID=" + id), ""},
           {"POST", Target("RID=1"), "count=1"},
           {"POST", Target("RID=1"), "%%%"},
           {"POST", good, "count=2&ofs=0&req0___data__=%7B%7D"},
           {"POST", good, "count=1&ofs=-5&req0___data__=%7B%7D"},
           {"POST", good, "count=99999999999999999999"},
           {"POST", good, std::string("\0\xff\x80%zz", 6)},
           {"POST", good + "&AID=all", "count=0"}}) {
    SCOPED_TRACE(target + " " + body);
    EXPECT_EQ(Ask(method, target, body).status, 400);
  }
  // The session is not affected.
  EXPECT_EQ(Forward(id, 0, {"a"}).status, 200);
  EXPECT_TRUE(WaitForReceived({"a"}));
}

}  // namespace
}  // namespace hearth::doors::webchannel
