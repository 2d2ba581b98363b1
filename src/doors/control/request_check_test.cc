#include "doors/control/request_check.h"

#include <gtest/gtest.h>

namespace hearth::doors::control {
namespace {

http::RequestHead Head(std::string_view method, std::string_view authority) {
  http::RequestHead head;
  head.set_method(method);
  head.set_authority(authority);
  return head;
}

TEST(CheckOrigin, LetsProgramsOfThisMachineIn) {
  for (const char* authority : {"localhost", "localhost:8080", "LOCALHOST:80", "127.0.0.1:8080",
                                "127.1.2.3", "[::1]:8080", "[::1]"}) {
    EXPECT_TRUE(CheckOrigin(Head("GET", authority)).ok()) << authority;
  }
}

TEST(CheckOrigin, RefusesPagesOfOtherOrigins) {
  for (const char* origin : {"https://evil.example", "null", "http://localhost:3000",
                             "http://localhost", "http://localhost:80800"}) {
    http::RequestHead head = Head("GET", "localhost:8080");
    head.AddHeader("Origin", origin);
    EXPECT_EQ(CheckOrigin(head).code(), Code::kPermissionDenied) << origin;
  }
  for (const char* site : {"cross-site", "same-site"}) {
    http::RequestHead head = Head("GET", "localhost:8080");
    head.AddHeader("Sec-Fetch-Site", site);
    EXPECT_EQ(CheckOrigin(head).code(), Code::kPermissionDenied) << site;
  }
}

TEST(CheckOrigin, LetsItsOwnPagesIn) {
  http::RequestHead head = Head("PUT", "localhost:8080");
  head.AddHeader("Origin", "http://localhost:8080");
  head.AddHeader("Sec-Fetch-Site", "same-origin");
  head.AddHeader("Content-Type", "application/json");
  EXPECT_TRUE(CheckOrigin(head).ok());
}

TEST(CheckOrigin, ChangesMustBeJson) {
  for (const char* method : {"PUT", "DELETE", "POST", "OPTIONS"}) {
    EXPECT_EQ(CheckOrigin(Head(method, "localhost")).code(), Code::kInvalidArgument) << method;
    for (const char* type : {"text/plain", "application/x-www-form-urlencoded", "application/jsonp",
                             "text/plain; application/json"}) {
      http::RequestHead head = Head(method, "localhost");
      head.AddHeader("content-type", type);
      EXPECT_EQ(CheckOrigin(head).code(), Code::kInvalidArgument) << method << " " << type;
    }
    for (const char* type : {"application/json", "Application/JSON ; charset=utf-8"}) {
      http::RequestHead head = Head(method, "localhost");
      head.AddHeader("content-type", type);
      EXPECT_TRUE(CheckOrigin(head).ok()) << method << " " << type;
    }
  }
}

TEST(SplitPath, DecodesEachPartByItself) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(*SplitPath("/a/b"), (Parts{"a", "b"}));
  EXPECT_EQ(*SplitPath("/"), (Parts{""}));
  EXPECT_EQ(*SplitPath("/%28default%29/a%2fb/%C3%a9"), (Parts{"(default)", "a/b", "\xC3\xA9"}));
  for (const char* path : {"/%", "/a%2", "/%zz", "/a%/b"}) {
    EXPECT_FALSE(SplitPath(path).has_value()) << path;
  }
}

}  // namespace
}  // namespace hearth::doors::control
