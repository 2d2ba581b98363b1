// gRPC-Web through a real server, on HTTP/1.1, with hand-written requests.
#include "doors/grpc/grpc_web.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doors/grpc/testing/grpc_test_server.h"
#include "http/testing/test_http2_client.h"
#include "http/testing/test_socket.h"
#include "rpc/call.h"

namespace hearth::doors::grpc {
namespace {

using namespace http;

using testing::HasSubstr;
using testing::StartsWith;

TEST(Base64Test, ThereAndBack) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {"\xff\xef", "/+8="}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    std::string taken = text;
    EXPECT_EQ(TakeBase64(&taken), bytes);
    EXPECT_EQ(taken, "");
  }
}

TEST(Base64Test, TakesWholeGroups) {
  std::string text = "Zg==Zm8=Zm9vYg";
  EXPECT_EQ(TakeBase64(&text), "ffofoo");
  EXPECT_EQ(text, "Yg");
  for (const char* rubbish : {"Z===", "Zm9*", "Zm =", "=abc"}) {
    text = rubbish;
    EXPECT_EQ(TakeBase64(&text), std::nullopt) << rubbish;
  }
}

class GrpcWebTest : public testing::Test {
 protected:
  void SetUp() override {
    server_.methods.Add("/t.S/Echo",
                        rpc::SingleRequestMethod([](auto call, std::string_view request) {
                          call->Respond(std::string(request));
                        }));
    server_.methods.Add("/t.S/Thrice",
                        rpc::SingleRequestMethod([](auto call, std::string_view request) {
                          for (int i = 0; i < 3; ++i) call->Send(std::string(request));
                          call->Finish(Status(Code::kAborted, "that is all"));
                        }));
    server_.methods.Add(
        "/t.S/Held", rpc::SingleRequestMethod([this](auto call, std::string_view) {
          call->OnCancelled([this] { cancelled_.Update([](bool& value) { value = true; }); });
          held_.Update([&](auto& held) { held = call; });
        }));
    server_.methods.Add("/t.S/Fail", rpc::SingleRequestMethod([](auto call, std::string_view) {
                          call->Finish(Status(Code::kNotFound, "nothing here"));
                        }));
    server_.Start();
  }

  std::string Ask(std::string_view path, std::string_view type, std::string_view body) {
    TestSocket socket(server_.port());
    socket.Send(
        "POST " + std::string(path) +
        " HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost:5173\r\nconnection: close\r\n"
        "content-type: " +
        std::string(type) + "\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" +
        std::string(body));
    return socket.ReadToEnd();
  }
  static std::string Trailers(std::string text) {
    std::string frame = TestFrame(text);
    frame[0] = static_cast<char>(0x80);
    return frame;
  }

  Watched<std::shared_ptr<rpc::Call>> held_;
  Watched<bool> cancelled_;
  GrpcTestServer server_;
};

TEST_F(GrpcWebTest, Unary) {
  const std::string answer = Ask("/t.S/Echo", "application/grpc-web+proto", TestFrame("hello"));
  EXPECT_THAT(answer,
              StartsWith("HTTP/1.1 200 OK\r\ncontent-type: application/grpc-web+proto\r\n"));
  EXPECT_THAT(answer, HasSubstr("access-control-allow-origin: http://localhost:5173\r\n"));
  EXPECT_THAT(answer, HasSubstr("hello"));
  EXPECT_THAT(answer, HasSubstr(Trailers("grpc-status: 0\r\n")));
}

TEST_F(GrpcWebTest, ServerStreamingEndsWithItsStatus) {
  const std::string answer = Ask("/t.S/Thrice", "application/grpc-web", TestFrame("x"));
  EXPECT_THAT(answer, HasSubstr(Trailers("grpc-status: 10\r\ngrpc-message: that is all\r\n")));
}

TEST_F(GrpcWebTest, AnErrorWithoutMessages) {
  const std::string answer = Ask("/t.S/Fail", "application/grpc-web+proto", TestFrame("x"));
  EXPECT_THAT(answer, HasSubstr("grpc-status: 5\r\ngrpc-message: nothing here\r\n"));
  EXPECT_THAT(answer, HasSubstr("access-control-expose-headers: "));
  EXPECT_THAT(Ask("/t.S/None", "application/grpc-web+proto", TestFrame("x")),
              HasSubstr("grpc-status: 12\r\n"));
}

TEST_F(GrpcWebTest, AClientThatLeavesCancelsItsCall) {
  TestSocket socket(server_.port());
  socket.Send(
      "POST /t.S/Held HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/grpc-web\r\n"
      "content-length: 6\r\n\r\n" +
      TestFrame("x"));
  ASSERT_TRUE(held_.WaitFor([](const auto& call) { return call != nullptr; }));
  EXPECT_FALSE(held_.Get()->closed());
  socket.Close();
  EXPECT_TRUE(cancelled_.WaitFor([](bool cancelled) { return cancelled; }));
  EXPECT_TRUE(held_.Get()->closed());
}

TEST_F(GrpcWebTest, Text) {
  const std::string answer =
      Ask("/t.S/Echo", "application/grpc-web-text+proto", EncodeBase64(TestFrame("hello")));
  EXPECT_THAT(answer, HasSubstr("content-type: application/grpc-web-text+proto\r\n"));
  EXPECT_THAT(answer, HasSubstr(EncodeBase64("hello")));
  EXPECT_THAT(answer, HasSubstr(EncodeBase64(Trailers("grpc-status: 0\r\n"))));
}

TEST_F(GrpcWebTest, RubbishDoesNoHarm) {
  EXPECT_EQ(Ask("/t.S/Echo", "application/grpc-web-text", "****"), "");
  EXPECT_THAT(Ask("/t.S/Echo", "application/grpc-web-text", "Zg="),
              HasSubstr(EncodeBase64(Trailers("grpc-status: 12\r\ngrpc-message: "
                                              "no message for a unary method\r\n"))));
  EXPECT_THAT(Ask("/t.S/Echo", "application/grpc-web", "\x07"), HasSubstr("grpc-status: 13"));
  EXPECT_THAT(Ask("/t.S/Echo", "application/grpc-webby", "x"), StartsWith("HTTP/1.1 415"));
}

TEST_F(GrpcWebTest, PreflightsAreAnswered) {
  TestSocket socket(server_.port());
  socket.Send(
      "OPTIONS /t.S/Echo HTTP/1.1\r\nhost: localhost\r\norigin: "
      "http://localhost:5173\r\nconnection: close\r\n"
      "access-control-request-method: POST\r\naccess-control-request-headers: x-grpc-web\r\n\r\n");
  EXPECT_THAT(socket.ReadToEnd(), HasSubstr("access-control-allow-headers: x-grpc-web\r\n"));
}

}  // namespace
}  // namespace hearth::doors::grpc
