// HTTP/2 through a real server: limits, floods, timeouts and graceful shutdown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "doors/grpc/testing/grpc_test_server.h"
#include "http/http2_protocol.h"
#include "http/testing/endless_service.h"
#include "http/testing/test_http2_client.h"

namespace hearth::doors::grpc {
namespace {

using namespace http;

using namespace std::chrono_literals;
using testing::ElementsAre;

class Http2Test : public testing::Test {
 protected:
  Http2Test() {
    server_.router.AddPlain(
        "GET", "/", [](std::shared_ptr<PlainCall> call) { call->Respond({.body = "hello\n"}); });
    server_.router.AddPlain("POST", "/echo", [](std::shared_ptr<PlainCall> call) {
      call->Respond({.body = std::string(call->body())});
    });
    server_.router.AddService("/endless", endless_);
    server_.methods.Add("/t/Echo",
                        rpc::SingleRequestMethod([](auto call, std::string_view request) {
                          call->Respond(std::string(request));
                        }));
    server_.methods.Add("/t/Held", rpc::SingleRequestMethod([this](auto call, std::string_view) {
                          held_.Update([&](auto& all) { all.push_back(call); });
                        }));
  }

  int32_t OpenHeld(TestHttp2Client& client) {
    const int32_t stream = client.OpenGrpc("/t/Held");
    client.SendBody(stream, TestFrame("x"));
    client.EndBody(stream);
    return stream;
  }
  bool WaitForHeld(size_t count) {
    return held_.WaitFor([&](const auto& all) { return all.size() == count; });
  }

  Watched<std::vector<std::shared_ptr<rpc::Call>>> held_;
  EndlessService endless_;
  GrpcTestServer server_;
};

TEST_F(Http2Test, ServesPlainRequests) {
  server_.Start();
  TestHttp2Client client(server_.port());
  const TestAnswer answer = client.Get("/?q");
  EXPECT_EQ(answer.http_status(), 200);
  EXPECT_EQ(answer.headers.at("content-length"), "6");
  EXPECT_EQ(answer.body, "hello\n");
  EXPECT_EQ(client.Get("/none").http_status(), 404);

  const int32_t head = client.Open("HEAD", "/", {});
  ASSERT_TRUE(client.UntilClosed(head));
  EXPECT_EQ(client.answer(head).headers.at("content-length"), "6");
  EXPECT_EQ(client.answer(head).body, "");

  const int32_t post = client.Open("POST", "/echo", {});
  client.SendBody(post, std::string(200'000, 'e'));
  client.EndBody(post);
  ASSERT_TRUE(client.UntilClosed(post));
  EXPECT_EQ(client.answer(post).body, std::string(200'000, 'e'));
}

TEST_F(Http2Test, BothSidesOfTheStreamLimit) {
  server_.options.connection.concurrent_streams_max = 5;
  server_.Start();
  TestHttp2Client client(server_.port());
  // Sent before the client has read the server's settings, so the client does not apply the limit.
  std::vector<int32_t> streams;
  for (int i = 0; i < 6; ++i) streams.push_back(OpenHeld(client));
  ASSERT_TRUE(client.UntilClosed(streams[5]));
  EXPECT_EQ(client.answer(streams[5]).error_code, static_cast<uint32_t>(NGHTTP2_REFUSED_STREAM));
  EXPECT_EQ(client.server_setting(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS), 5u);
  ASSERT_TRUE(WaitForHeld(5));
  for (const auto& call : held_.Get()) call->Respond(std::string("now"));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client.UntilClosed(streams[static_cast<size_t>(i)]));
  }
  EXPECT_THAT(client.Call("/t/Echo", "again").messages(), ElementsAre("again"));
}

TEST_F(Http2Test, BothSidesOfTheHeaderLimit) {
  server_.options.connection.header_bytes_max = 2'000;
  server_.Start();
  TestHttp2Client client(server_.port());
  // Four pseudo-headers and x, as RFC 9113 counts them.
  const size_t others =
      std::string(":methodGET:path/:schemehttp:authoritylocalhostx").size() + 5 * 32;
  const auto get = [&](size_t bytes) {
    const int32_t stream = client.Open("GET", "/", {{"x", std::string(bytes - others, 'x')}});
    EXPECT_TRUE(client.UntilClosed(stream));
    return client.answer(stream).http_status();
  };
  EXPECT_EQ(get(2'000), 200);
  EXPECT_EQ(get(2'001), 431);
  EXPECT_EQ(get(1'000), 200);  // The connection stays usable.
}

TEST_F(Http2Test, EndsAConnectionThatBreaksTheProtocol) {
  server_.Start();
  TestSocket socket(server_.port());
  socket.Send(std::string(kHttp2Preface) + std::string(1'000, '\xff'));
  socket.ReadToEnd();  // Must end.

  TestSocket no_settings(server_.port());
  no_settings.Send(std::string(kHttp2Preface) + std::string("\0\0\0\6\0\0\0\0\0", 9));
  no_settings.ReadToEnd();
}

TEST_F(Http2Test, BothSidesOfTheRapidResetLimit) {
  server_.options.connection.stream_reset_burst_max = 50;
  server_.options.connection.stream_resets_per_second_max = 1;
  server_.Start();
  const auto reset_many = [&](TestHttp2Client& client, int count) {
    for (int i = 0; i < count; ++i) {
      const int32_t stream = client.OpenGrpc("/t/Echo");
      client.Flush();  // Otherwise nghttp2 would drop the request instead of resetting it.
      client.Reset(stream);
    }
  };
  TestHttp2Client patient(server_.port());
  ASSERT_TRUE(patient.RoundTrip());
  reset_many(patient, 50);
  EXPECT_THAT(patient.Call("/t/Echo", "x").messages(), ElementsAre("x"));

  TestHttp2Client flood(server_.port());
  ASSERT_TRUE(flood.RoundTrip());
  reset_many(flood, 60);
  EXPECT_TRUE(flood.UntilConnectionEnds());
  EXPECT_EQ(flood.goaway_reason(), static_cast<uint32_t>(NGHTTP2_ENHANCE_YOUR_CALM));
}

TEST_F(Http2Test, ResetsOfWhatHasEndedTakeNothingBack) {
  server_.options.connection.stream_reset_burst_max = 5;
  server_.options.connection.stream_resets_per_second_max = 1;
  server_.Start();
  TestHttp2Client client(server_.port());
  for (int i = 0; i < 50; ++i) {
    const int32_t stream = client.OpenGrpc("/t/Echo");
    client.SendBody(stream, TestFrame("x"));
    client.EndBody(stream);
    ASSERT_TRUE(client.UntilClosed(stream)) << i;
    client.Reset(stream);
  }
  EXPECT_TRUE(client.RoundTrip());
}

TEST_F(Http2Test, BothSidesOfThePingLimit) {
  server_.Start();
  TestHttp2Client client(server_.port());
  const auto ping = [&](int count) {
    for (int i = 0; i < count; ++i) {
      nghttp2_submit_ping(client.session(), NGHTTP2_FLAG_NONE, nullptr);
      if (i % 100 == 99 && !client.RoundTrip()) return false;
    }
    return true;
  };
  ASSERT_TRUE(ping(9'000));
  EXPECT_EQ(client.Call("/t/Echo", "x").grpc_status(), 0);  // A request resets the count.
  ASSERT_TRUE(ping(9'000));
  EXPECT_FALSE(ping(2'000));
  EXPECT_EQ(client.goaway_reason(), static_cast<uint32_t>(NGHTTP2_ENHANCE_YOUR_CALM));
}

TEST_F(Http2Test, AClientMayOpenItsWindowsAsItReads) {
  server_.Start();
  TestHttp2Client client(server_.port());
  const int32_t stream = client.Open("GET", "/endless", {});
  size_t read = 0;
  for (int i = 0; i < 3'000; ++i) {
    ASSERT_TRUE(client.Until([&] { return client.answer(stream).body.size() > read; })) << i;
    read = client.answer(stream).body.size();
    for (int update = 0; update < 4; ++update) {
      nghttp2_submit_window_update(client.session(), NGHTTP2_FLAG_NONE, stream, 1);
    }
  }
  EXPECT_TRUE(client.RoundTrip());
}

TEST_F(Http2Test, AsksSilentClientsWhetherTheyLive) {
  server_.options.connection.ping_interval = 10ms;
  server_.options.connection.ping_timeout = 10s;
  server_.Start();
  TestHttp2Client client(server_.port());
  ASSERT_TRUE(client.Until([&] { return client.pings_received() >= 3; }));
  EXPECT_EQ(client.Call("/t/Echo", "x").grpc_status(), 0);
}

TEST_F(Http2Test, ClosesOnClientsThatDoNotAnswer) {
  server_.options.connection.ping_interval = 10ms;
  server_.options.connection.ping_timeout = 20ms;
  server_.Start();
  TestSocket dead(server_.port());
  const std::string settings("\0\0\0\4\0\0\0\0\0", 9);
  dead.Send(std::string(kHttp2Preface) + settings);
  EXPECT_NE(dead.ReadToEnd(), "");  // Its settings and pings, then the end.

  // A head that never ends cannot be answered either.
  TestSocket half_head(server_.port());
  half_head.Send(std::string(kHttp2Preface) + settings + std::string("\0\0\1\1\0\0\0\0\1\x82", 10));
  half_head.ReadToEnd();
}

TEST_F(Http2Test, ClosesIdleConnectionsButNoBusyOnes) {
  // The busy connection's request must arrive within this time, also on a busy machine.
  server_.options.connection.http2_idle_timeout = 1s;
  server_.options.connection.ping_interval = 10ms;
  server_.Start();
  TestHttp2Client busy(server_.port());
  const int32_t stream = OpenHeld(busy);
  ASSERT_TRUE(WaitForHeld(1));
  TestHttp2Client idle(server_.port());
  EXPECT_TRUE(idle.UntilConnectionEnds());
  EXPECT_TRUE(idle.goaway().has_value());
  EXPECT_EQ(idle.goaway_reason(), static_cast<uint32_t>(NGHTTP2_NO_ERROR));
  ASSERT_TRUE(busy.Until([&] { return busy.pings_received() >= 10; }));
  held_.Get().front()->Respond(std::string("done"));
  ASSERT_TRUE(busy.UntilClosed(stream));
  EXPECT_THAT(busy.answer(stream).messages(), ElementsAre("done"));
}

TEST_F(Http2Test, HoldsLittleForAClientThatDoesNotRead) {
  server_.options.connection.send_stall_timeout = 100ms;
  server_.Start();
  // Flow control would allow everything; only the socket is full.
  TestHttp2Client client(server_.port(),
                         {.stream_window_bytes = 0x7fffffff, .receive_buffer_bytes = 4'096});
  nghttp2_session_set_local_window_size(client.session(), NGHTTP2_FLAG_NONE, 0, 0x7fffffff);
  client.Open("GET", "/endless", {});
  client.Flush();
  EXPECT_TRUE(endless_.closed.WaitFor([](bool closed) { return closed; }));
  EXPECT_LE(endless_.unsent_bytes_most.Get(), kSendBufferLowBytes + 10'000);
}

TEST_F(Http2Test, DrainLetsCallsFinish) {
  server_.Start();
  TestHttp2Client idle(server_.port());
  ASSERT_TRUE(idle.RoundTrip());
  TestHttp2Client busy(server_.port());
  const int32_t stream = OpenHeld(busy);
  ASSERT_TRUE(WaitForHeld(1));

  auto drained = std::async(std::launch::async, [&] { return server_.server->Drain(20s); });
  EXPECT_TRUE(idle.UntilConnectionEnds());
  EXPECT_TRUE(idle.goaway().has_value());
  idle.socket().Close();
  // First "open no more streams", then the last stream that is answered.
  ASSERT_TRUE(busy.Until([&] { return busy.goaway_count() == 2; }));
  EXPECT_EQ(busy.goaway(), stream);
  EXPECT_EQ(busy.goaway_reason(), static_cast<uint32_t>(NGHTTP2_NO_ERROR));
  held_.Get().front()->Respond(std::string("finished"));
  EXPECT_TRUE(busy.UntilConnectionEnds());
  EXPECT_THAT(busy.answer(stream).messages(), ElementsAre("finished"));
  busy.socket().Close();
  EXPECT_TRUE(drained.get());
}

TEST_F(Http2Test, DrainCutsOffWhatTakesTooLong) {
  server_.Start();
  TestHttp2Client client(server_.port());
  OpenHeld(client);
  ASSERT_TRUE(WaitForHeld(1));
  EXPECT_FALSE(server_.server->Drain(20ms));
  EXPECT_TRUE(held_.Get().front()->closed());
}

}  // namespace
}  // namespace hearth::doors::grpc
