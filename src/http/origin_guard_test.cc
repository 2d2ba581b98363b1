#include "http/origin_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "http/testing/test_http2_client.h"
#include "http/testing/test_server.h"
#include "http/testing/test_socket.h"

namespace hearth::http {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class OriginGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* method : {"GET", "POST", "OPTIONS"}) {
      server_.router.AddPlain(method, "/it", [this](const std::shared_ptr<PlainCall>& call) {
        ++answered_;
        call->Respond({.body = "secret"});
      });
    }
    server_.options.metrics = &metrics_;
    server_.Start();
  }

  std::string Ask(const std::string& method, const std::string& headers, std::string body = "") {
    TestSocket socket(server_.port());
    socket.Send(method + " /it HTTP/1.1\r\nconnection: close\r\ncontent-length: " +
                std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body);
    return socket.ReadToEnd();
  }

  Metrics metrics_;
  std::atomic<int> answered_ = 0;
  TestServer server_;
};

TEST_F(OriginGuardTest, AStrangerGetsNothing) {
  const std::string denied[] = {
      Ask("GET", "host: evil.example\r\n"),
      Ask("GET", "host: localhost\r\norigin: https://evil.example\r\n"),
      Ask("GET", "host: localhost\r\norigin: null\r\n"),
      Ask("POST", "host: localhost\r\norigin: https://evil.example\r\ncontent-type: text/plain\r\n",
          "a=b"),
      Ask("GET", "host: localhost\r\nsec-fetch-site: cross-site\r\nsec-fetch-mode: no-cors\r\n"),
      Ask("OPTIONS",
          "host: localhost\r\norigin: https://evil.example\r\naccess-control-request-method: "
          "POST\r\naccess-control-request-private-network: true\r\n")};
  for (const std::string& answer : denied) {
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 "));
    EXPECT_THAT(answer, HasSubstr("PERMISSION_DENIED"));
    EXPECT_THAT(answer, Not(HasSubstr("access-control")));
    EXPECT_THAT(answer, Not(HasSubstr("secret")));
  }
  EXPECT_EQ(answered_, 0);
  EXPECT_THAT(metrics_.Text(), HasSubstr("hearth_http_refused_requests_total 6\n"));
}

TEST_F(OriginGuardTest, OthersAreAnswered) {
  EXPECT_THAT(Ask("GET", "host: localhost\r\n"), HasSubstr("secret"));
  EXPECT_THAT(Ask("POST", "host: 127.0.0.1:1\r\norigin: http://localhost:5173\r\n", "a=b"),
              HasSubstr("secret"));
  EXPECT_EQ(answered_, 2);
}

TEST_F(OriginGuardTest, TheMessageRepeatsNothingThatEndsAString) {
  EXPECT_THAT(Ask("GET", "host: a\"b\\<c>\xff\r\n"), HasSubstr("The host 'a?b?<c>?' is not"));
}

TEST_F(OriginGuardTest, Http2AndGrpcAreCheckedToo) {
  TestHttp2Client client(server_.port());
  EXPECT_EQ(client.Get("/it").http_status(), 200);
  const TestAnswer host = client.CallRaw("/it", "", {{"host", "evil.example"}});
  EXPECT_EQ(host.http_status(), 403);
  EXPECT_EQ(host.grpc_status(), 7);
  EXPECT_THAT(host.headers.at("grpc-message"), HasSubstr("evil.example"));
  EXPECT_EQ(client.CallRaw("/it", "", {{"origin", "https://evil.example"}}).http_status(), 403);
  EXPECT_EQ(answered_, 1);
}

}  // namespace
}  // namespace hearth::http
