// Third-party clients against our server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "doors/grpc/testing/grpc_test_server.h"
#include "http/testing/test_http2_client.h"

namespace hearth::doors::grpc {
namespace {

using namespace http;

using testing::HasSubstr;

std::string Output(const std::string& command) {
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  std::string output;
  std::array<char, 4'096> part;
  while (const size_t size = fread(part.data(), 1, part.size(), pipe)) {
    output.append(part.data(), size);
  }
  pclose(pipe);
  return output;
}

class ToolsTest : public testing::Test {
 protected:
  void SetUp() override {
    server_.options.loops = 2;
    server_.router.AddPlain(
        "GET", "/", [](std::shared_ptr<PlainCall> call) { call->Respond({.body = "hello\n"}); });
    server_.router.AddPlain("POST", "/size", [](std::shared_ptr<PlainCall> call) {
      call->Respond({.body = std::to_string(call->body().size())});
    });
    server_.methods.Add("/t/Echo",
                        rpc::SingleRequestMethod([](auto call, std::string_view request) {
                          call->Respond(std::string(request));
                        }));
    server_.Start();
    url_ = "http://127.0.0.1:" + std::to_string(server_.port());
    const auto folder = std::filesystem::path(testing::TempDir());
    const std::string own = std::to_string(server_.port());  // Tests may run in parallel.
    request_file_ = folder / ("hearth_http_request_" + own);
    body_file_ = folder / ("hearth_http_body_" + own);
    std::ofstream(request_file_, std::ios::binary) << TestFrame("hello");
    std::ofstream(body_file_, std::ios::binary) << std::string(2'000'000, 'b');
  }
  void TearDown() override {
    std::filesystem::remove(request_file_);
    std::filesystem::remove(body_file_);
  }

  GrpcTestServer server_;
  std::string url_;
  std::filesystem::path request_file_;
  std::filesystem::path body_file_;
};

TEST_F(ToolsTest, CurlSpeaksBothVersions) {
  EXPECT_EQ(Output("curl -sS " + url_), "hello\n");
  EXPECT_EQ(Output("curl -sS --http2-prior-knowledge " + url_), "hello\n");
  EXPECT_THAT(Output("curl -sSI " + url_), HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_EQ(Output("curl -sS " + url_ + " " + url_ + " -w '%{num_connects}'"), "hello\n1hello\n0");
}

TEST_F(ToolsTest, CurlUploads) {
  const std::string upload = " --data-binary @" + body_file_.string() + " " + url_ + "/size";
  EXPECT_EQ(Output("curl -sS -m 20" + upload), "2000000");  // With Expect: 100-continue.
  EXPECT_EQ(Output("curl -sS -m 20 -H 'transfer-encoding: chunked'" + upload), "2000000");
  EXPECT_EQ(Output("curl -sS -m 20 --http2-prior-knowledge" + upload), "2000000");
}

TEST_F(ToolsTest, CurlCallsAMethod) {
  EXPECT_THAT(Output("curl -sS --http2-prior-knowledge -D - -o /dev/null -H 'te: trailers' "
                     "-H 'content-type: application/grpc' --data-binary @" +
                     request_file_.string() + " " + url_ + "/t/Echo"),
              HasSubstr("grpc-status: 0"));
}

TEST_F(ToolsTest, H2loadFinishesEveryRequest) {
  const std::string calls =
      Output("h2load -n 20000 -c 8 -m 50 -H 'content-type: application/grpc' -d " +
             request_file_.string() + " " + url_ + "/t/Echo");
  EXPECT_THAT(calls, HasSubstr("20000 succeeded, 0 failed, 0 errored, 0 timeout"));
  EXPECT_THAT(calls, HasSubstr("status codes: 20000 2xx"));
  const std::string http1 = Output("h2load --h1 -n 5000 -c 8 " + url_ + "/");
  EXPECT_THAT(http1, HasSubstr("5000 succeeded, 0 failed, 0 errored, 0 timeout"));
}

}  // namespace
}  // namespace hearth::doors::grpc
