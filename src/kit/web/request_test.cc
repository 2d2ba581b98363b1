#include "kit/web/request.h"

#include <gtest/gtest.h>

namespace hearth::kit {
namespace {

Request Make(std::string_view target,
             const std::vector<std::pair<std::string, std::string>>& headers = {}) {
  http::RequestHead head;
  head.set_method("GET");
  head.set_target(target);
  for (const auto& [name, value] : headers) head.AddHeader(name, value);
  const std::string path(head.path());
  return Request(std::move(head), "the body", path, "127.0.0.1");
}

TEST(RequestTest, KnowsWhatItWasGiven) {
  const Request request = Make("/a/b?c=d", {{"Accept", "text/html"}});
  EXPECT_EQ(request.method(), "GET");
  EXPECT_EQ(request.path(), "/a/b");
  EXPECT_EQ(request.body(), "the body");
  EXPECT_EQ(request.peer(), "127.0.0.1");
  EXPECT_EQ(request.Header("accept"), "text/html");
  EXPECT_EQ(request.Header("cookie"), std::nullopt);
}

TEST(RequestTest, QueryIsDecodedAsForms) {
  const Request request = Make("/?a=1&name=J%C3%BCrgen+B&empty=&flag&b%3Dc=d&a=2&&=x");
  EXPECT_EQ(request.Query("a"), "1");
  EXPECT_EQ(request.Query("name"), "Jürgen B");
  EXPECT_EQ(request.Query("empty"), "");
  EXPECT_EQ(request.Query("flag"), "");
  EXPECT_EQ(request.Query("b=c"), "d");
  EXPECT_EQ(request.Query("nothing"), std::nullopt);
}

TEST(RequestTest, AQueryThatCannotBeDecodedStaysAsItIs) {
  EXPECT_EQ(Make("/?a=100%").Query("a"), "100%");
  EXPECT_EQ(Make("/?a=%zz").Query("a"), "%zz");
  EXPECT_EQ(Make("/").Query("a"), std::nullopt);
}

TEST(RequestTest, CookiesOfOneFieldOrOfSeveral) {
  const Request request =
      Make("/", {{"cookie", "a=1; session=abc.def; quoted=\"x\""}, {"cookie", "b=2=2"}});
  EXPECT_EQ(request.Cookie("a"), "1");
  EXPECT_EQ(request.Cookie("session"), "abc.def");
  EXPECT_EQ(request.Cookie("quoted"), "x");
  EXPECT_EQ(request.Cookie("b"), "2=2");
  EXPECT_EQ(request.Cookie("sess"), std::nullopt);
}

TEST(RequestTest, CookiesThatAreNoneDoNoHarm) {
  for (const std::string text : {"", ";;;", "=", "a", ";=;a;", "\"", "a=\""}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(Make("/", {{"cookie", text}}).Cookie("session"), std::nullopt);
  }
}

}  // namespace
}  // namespace hearth::kit
