#include "kit/web/response.h"

#include <gtest/gtest.h>

#include "kit/web/request.h"

namespace hearth::kit {
namespace {

TEST(ResponseTest, JsonWithTextThatIsNoUtf8IsStillAnAnswer) {
  const Response response = Response::Json({{"text", "a\xff"}}, 201);
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.content_type, "application/json; charset=utf-8");
  EXPECT_EQ(response.body, "{\"text\":\"a\xEF\xBF\xBD\"}\n");
}

TEST(ResponseTest, RedirectNamesThePlace) {
  const Response response = Response::Redirect("/there");
  EXPECT_EQ(response.status, 303);
  EXPECT_EQ(response.headers.front(), std::pair(std::string("location"), std::string("/there")));
}

TEST(ResponseTest, CookiesAreAlwaysStrict) {
  EXPECT_EQ(SetCookie("a", "b", {}).second, "a=b; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_EQ(
      SetCookie(
          "a", "b",
          {.max_age = std::chrono::hours(1), .path = "/x", .http_only = false, .secure = true})
          .second,
      "a=b; Path=/x; Max-Age=3600; Secure; SameSite=Strict");
  EXPECT_EQ(SetCookie("a", "", {.max_age = std::chrono::seconds(-1)}).second,
            "a=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
}

TEST(ResponseTest, CookiesAreForTheApplicationAndKeptToTls) {
  const auto cookie_over = [](const char* scheme, const char* origin = nullptr) {
    http::RequestHead head;
    head.set_scheme(scheme);
    if (origin != nullptr) head.AddHeader("origin", origin);
    head.AddHeader("x-forwarded-proto", "https");  // Every client can send it.
    const Request request(std::move(head), "", "/login", "127.0.0.1", "/apps/feed");
    return SetCookie("a", "b", CookieOptions::For(request, std::chrono::seconds(0))).second;
  };
  EXPECT_EQ(cookie_over("http"), "a=b; Path=/apps/feed/; HttpOnly; SameSite=Strict");
  const char* const secure = "a=b; Path=/apps/feed/; HttpOnly; Secure; SameSite=Strict";
  EXPECT_EQ(cookie_over("https"), secure);
  // Behind a proxy that ends TLS.
  EXPECT_EQ(cookie_over("http", "https://app.example"), secure);
  EXPECT_EQ(cookie_over("http", "http://https.example"),
            "a=b; Path=/apps/feed/; HttpOnly; SameSite=Strict");
}

TEST(ResponseDeathTest, ACookieCannotSmuggleAttributes) {
  EXPECT_DEATH(SetCookie("a", "b; Domain=x", {}), "");
  EXPECT_DEATH(SetCookie("a", "b\r\nx: y", {}), "");
}

}  // namespace
}  // namespace hearth::kit
