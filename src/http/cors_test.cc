#include "http/cors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hearth::http {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;

RequestHead Head(std::initializer_list<std::pair<const char*, const char*>> headers) {
  RequestHead head;
  head.set_method("OPTIONS");
  head.set_target("/v1/x");
  for (const auto& [name, value] : headers) head.AddHeader(name, value);
  return head;
}

TEST(CorsTest, NamesTheOriginThatAsked) {
  std::vector<std::pair<std::string, std::string>> headers;
  AppendCorsHeaders(Head({{"Origin", "http://localhost:3000"}}), &headers);
  EXPECT_THAT(headers, Contains(Pair("access-control-allow-origin", "http://localhost:3000")));
  EXPECT_THAT(headers, Contains(Pair("access-control-allow-credentials", "true")));
  EXPECT_THAT(headers, Contains(Pair("vary", "origin")));
}

TEST(CorsTest, SaysNothingWhereNoPageAsked) {
  std::vector<std::pair<std::string, std::string>> headers;
  AppendCorsHeaders(Head({}), &headers);
  EXPECT_THAT(headers, IsEmpty());
  EXPECT_THAT(PreflightAnswer(Head({})).more_headers, IsEmpty());
}

TEST(CorsTest, AllowsWhatThePreflightAsksFor) {
  const PlainAnswer answer =
      PreflightAnswer(Head({{"origin", "null"},
                            {"access-control-request-headers", "authorization, x-firebase-gmpid"},
                            {"access-control-request-private-network", "true"}}));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "");
  EXPECT_THAT(answer.more_headers, Contains(Pair("access-control-allow-origin", "null")));
  EXPECT_THAT(answer.more_headers,
              Contains(Pair("access-control-allow-headers", "authorization, x-firebase-gmpid")));
  EXPECT_THAT(answer.more_headers,
              Contains(Pair("access-control-allow-methods", testing::HasSubstr("PATCH"))));
  EXPECT_THAT(answer.more_headers, Contains(Pair("access-control-allow-private-network", "true")));
  EXPECT_THAT(answer.more_headers, Contains(Key("access-control-max-age")));
}

TEST(CorsTest, AllowsNoHeadersThatNobodyAskedFor) {
  const PlainAnswer answer = PreflightAnswer(Head({{"origin", "http://a"}}));
  EXPECT_THAT(answer.more_headers, Not(Contains(Key("access-control-allow-headers"))));
  EXPECT_THAT(answer.more_headers, Not(Contains(Key("access-control-allow-private-network"))));
}

}  // namespace
}  // namespace hearth::http
