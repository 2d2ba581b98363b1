#include "kit/web/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace hearth::kit {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Asset kPage[] = {
    {.path = "index.html",
     .content_type = "text/html",
     .etag = "\"1\"",
     .content = "<p>",
     .gzip = ""},
    {.path = "main.js",
     .content_type = "text/javascript",
     .etag = "\"2\"",
     .content = "1",
     .gzip = ""},
};

Request Ask(std::string_view method, std::string_view target) {
  http::RequestHead head;
  head.set_method(method);
  head.set_target(target);
  const std::string path(head.path());
  return Request(std::move(head), "", path, "127.0.0.1");
}

Handler Saying(std::string text) {
  return [text = std::move(text)](const Request&) { return Response{.body = text}; };
}

TEST(RoutesTest, ParametersAreDecoded) {
  Routes routes;
  routes.Add("GET", "/users/:id/posts/:post", [](const Request& request) {
    return Response{.body = request.Parameter("id") + "|" + request.Parameter("post")};
  });
  EXPECT_EQ(routes.Answer(Ask("GET", "/users/a%20b/posts/%2F?x=1")).body, "a b|/");
  EXPECT_EQ(routes.Answer(Ask("GET", "/users/1/posts/%")).status, 400);
  EXPECT_EQ(routes.Answer(Ask("GET", "/users/%FF/posts/1")).status, 400);
}

TEST(RoutesTest, AFixedSegmentWinsWhateverTheOrder) {
  Routes routes;
  routes.Add("GET", "/users/:id", Saying("one"));
  routes.Add("GET", "/users/me", Saying("me"));
  routes.Add("GET", "/users/:id/:what", Saying("what"));
  routes.Add("GET", "/:kind/me/posts", Saying("no"));
  EXPECT_EQ(routes.Answer(Ask("GET", "/users/me")).body, "me");
  EXPECT_EQ(routes.Answer(Ask("GET", "/users/you")).body, "one");
  EXPECT_EQ(routes.Answer(Ask("HEAD", "/users/me")).body, "me");
}

TEST(RoutesTest, WhatNobodyAnswers) {
  Routes routes;
  routes.Add("GET", "/users/:id", Saying("one"));
  for (const char* target : {"/", "/users", "/users/", "/users//", "/users/1/", "/users/1/2", "//",
                             "/USERS/1", "users/1", ""}) {
    SCOPED_TRACE(target);
    EXPECT_EQ(routes.Answer(Ask("GET", target)).status, 404);
  }
  routes.SetNotFound("no such endpoint");
  EXPECT_EQ(routes.Answer(Ask("GET", "/")).body, "{\"error\":\"no such endpoint\"}\n");
}

TEST(RoutesTest, OtherMethodsAreToldWhichThereAre) {
  Routes routes;
  routes.Add("PUT", "/users/:id", Saying("put"));
  routes.Add("GET", "/users/:id", Saying("get"));
  routes.Add("DELETE", "/users/me", Saying("delete"));
  const Response refused = routes.Answer(Ask("POST", "/users/me"));
  EXPECT_EQ(refused.status, 405);
  EXPECT_THAT(refused.headers, testing::Contains(testing::Pair("allow", "DELETE, GET, PUT")));
}

TEST(RoutesTest, ErrorsAreWordedAsTheApplicationWants) {
  Routes routes;
  EXPECT_EQ(routes.Error(418, "teapot").body, "{\"error\":\"teapot\"}\n");
  routes.SetErrorBody([](int status, const std::string& message) {
    return nlohmann::json{{"code", status}, {"text", message}};
  });
  EXPECT_EQ(routes.Error(418, "teapot").body, "{\"code\":418,\"text\":\"teapot\"}\n");
  EXPECT_EQ(routes.Error(418, "teapot").status, 418);
}

TEST(RoutesTest, WhatAHandlerThrowsIsNotTold) {
  Routes routes;
  routes.Add("GET", "/a", [](const Request&) -> Response { throw std::runtime_error("secret"); });
  routes.Add("GET", "/b", [](const Request&) -> Response { throw 1; });
  for (const char* target : {"/a", "/b"}) {
    const Response response = routes.Answer(Ask("GET", target));
    EXPECT_EQ(response.status, 500);
    EXPECT_THAT(response.body, Not(HasSubstr("secret")));
  }
}

TEST(RoutesTest, FilesOfThePage) {
  Routes routes;
  routes.AddAssets(kPage);
  routes.Add("GET", "/api", Saying("api"));
  EXPECT_EQ(routes.Answer(Ask("GET", "/")).body, "<p>");
  EXPECT_EQ(routes.Answer(Ask("GET", "/index.html")).body, "<p>");
  EXPECT_EQ(routes.Find("HEAD", "/main.js").asset, &kPage[1]);
  EXPECT_EQ(routes.Find("GET", "/api").pattern, "/api");
  EXPECT_EQ(routes.Answer(Ask("GET", "/main.jsx")).status, 404);
  EXPECT_EQ(routes.Answer(Ask("POST", "/main.js")).status, 405);
}

}  // namespace
}  // namespace hearth::kit
