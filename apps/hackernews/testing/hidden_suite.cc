// Hidden stories and sign-in.
#include "apps/hackernews/api.h"
#include "apps/hackernews/testing/reader_test.h"

namespace hearth::hackernews {
namespace {

using client::Map;
using client::Value;
using Ids = std::vector<int64_t>;

std::string ErrorOf(const kit::Response& response) {
  return nlohmann::json::parse(response.body).at("error");
}

std::string HeaderOf(const kit::Response& response, std::string_view wanted) {
  for (const auto& [name, value] : response.headers) {
    if (name == wanted) return value;
  }
  return "";
}

// The first one: that of the session.
std::string CookieHeader(const kit::Response& response) { return HeaderOf(response, "set-cookie"); }

// What a browser sends later because it has signed in.
std::string DeviceCookieOf(const kit::Response& response) {
  for (const auto& [name, value] : response.headers) {
    if (name == "set-cookie" && value.starts_with(Api::kDeviceCookie)) {
      return value.substr(0, value.find(';'));
    }
  }
  return "";
}

std::string Credentials(const std::string& account, const std::string& password = "secret") {
  return nlohmann::json{{"acct", account}, {"pw", password}}.dump();
}

constexpr char kElsewhere[] = "10.0.0.2";

TEST_P(ReaderTest, HiddenStoriesAreRemovedBeforeSkipAndLimit) {
  for (int64_t id = 1; id <= 6; ++id) PutStory(id, NowMs() - kHourMs, id, NowMs());
  const std::string cookie = SignIn();
  for (const int64_t id : {6, 4}) {
    EXPECT_EQ(Send("POST", "/api/v1/hidden", nlohmann::json{{"hidden", id}}.dump(), cookie).status,
              200);
  }
  EXPECT_EQ(ListedIds("timespan=Day", cookie), (Ids{5, 3, 2, 1}));
  EXPECT_EQ(ListedIds("timespan=Day&skip=1&limit=2", cookie), (Ids{3, 2}));
  EXPECT_EQ(ListedIds("timespan=Day"), (Ids{6, 5, 4, 3, 2, 1}));  // Not signed in.
  EXPECT_EQ(ListedIds("timespan=Day", SignIn("bob")), (Ids{6, 5, 4, 3, 2, 1}));
}

TEST_P(ReaderTest, AHiddenStoryIsADocumentOfItsOwn) {
  const std::string cookie = SignIn("alice");
  const kit::Response response = Send("POST", "/api/v1/hidden", R"({"hidden": 42345678})", cookie);
  EXPECT_EQ(nlohmann::json::parse(response.body), (nlohmann::json{{"hidden", 42345678}}));
  EXPECT_EQ(Document(collections_.hidden("alice").Doc("42345678")),
            (Map{{"addedAt", Value(kStartMs)}}));
  EXPECT_EQ(Document(collections_.users().Doc("alice")), Map{});
  EXPECT_EQ(collections_.hidden("alice").path(), "ci-users/alice/hidden");
}

TEST_P(ReaderTest, HidingTwiceIsOnce) {
  const std::string cookie = SignIn();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Send("POST", "/api/v1/hidden", R"({"hidden": 7})", cookie).status, 200);
  }
  EXPECT_EQ(Get("/api/v1/hidden", cookie), nlohmann::json({7}));
  const auto count = collections_.hidden("alice").Count();
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(*count, 1);
}

TEST_P(ReaderTest, HidingCanBeUndone) {
  const std::string cookie = SignIn();
  Send("POST", "/api/v1/hidden", R"({"hidden": 7})", cookie);
  Send("POST", "/api/v1/hidden", R"({"hidden": 8})", cookie);
  EXPECT_EQ(Send("DELETE", "/api/v1/hidden/7", "", cookie).status, 200);
  EXPECT_EQ(Get("/api/v1/hidden", cookie), nlohmann::json({8}));
  Restart();
  EXPECT_EQ(Get("/api/v1/hidden", cookie), nlohmann::json({8}));
}

TEST_P(ReaderTest, HiddenIdsAreNumbersOfAtLeastZero) {
  const std::string cookie = SignIn();
  for (const char* body :
       {R"({"hidden": -1})", R"({"hidden": 1.5})", R"({"hidden": "7"})", R"({"hidden": null})",
        R"({"hidden": [7]})", R"({"hidden": 1e30})", R"({"hidden": 99999999999999999999})", "{}",
        "[]", "7", "", "{\"hidden\": 7", "\xff"}) {
    const kit::Response response = Send("POST", "/api/v1/hidden", body, cookie);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(ErrorOf(response), "invalid story id") << body;
  }
  EXPECT_EQ(ErrorOf(Send("DELETE", "/api/v1/hidden/seven", "", cookie)), "invalid story id");
  EXPECT_EQ(ErrorOf(Send("DELETE", "/api/v1/hidden/-7", "", cookie)), "invalid story id");
  EXPECT_EQ(Send("POST", "/api/v1/hidden", R"({"hidden": 0})", cookie).status, 200);
  EXPECT_EQ(Get("/api/v1/hidden", cookie), nlohmann::json::array({0}));
}

TEST_P(ReaderTest, HiddenStoriesNeedSomebodyWhoIsSignedIn) {
  const std::string good = SignIn();
  const std::vector<std::string> cookies = {"",
                                            std::string(Api::kSessionCookie) + "=",
                                            std::string(Api::kSessionCookie) + "=rubbish",
                                            std::string(Api::kSessionCookie) + "=a.b.c",
                                            good + "x",
                                            "other=1"};
  for (const std::string& cookie : cookies) {
    for (const auto& response :
         {Send("GET", "/api/v1/hidden", "", cookie),
          Send("POST", "/api/v1/hidden", R"({"hidden": 7})", cookie),
          Send("DELETE", "/api/v1/hidden/7", "", cookie), Send("GET", "/api/v1/me", "", cookie)}) {
      EXPECT_EQ(response.status, 401) << cookie;
      EXPECT_EQ(ErrorOf(response), "authentication error") << cookie;
    }
    EXPECT_EQ(Send("GET", "/api/v1/stories", "", cookie).status, 200) << cookie;
  }
}

TEST_P(ReaderTest, WhatAnotherProcessHidesIsSeenAtOnce) {
  PutStory(1, NowMs() - kHourMs, 1, NowMs());
  PutStory(2, NowMs() - kHourMs, 2, NowMs());
  const std::string cookie = SignIn();
  EXPECT_EQ(ListedIds("timespan=Day", cookie), (Ids{2, 1}));
  Advance(10'000);
  ASSERT_TRUE(collections_.hidden("alice").Doc("2").Set({{"addedAt", NowMs() - 5'000}}).ok());
  EXPECT_EQ(ListedIds("timespan=Day", cookie), (Ids{1}));
}

TEST_P(ReaderTest, SigningInAsksHackerNewsAndSetsACookie) {
  const kit::Response response =
      Send("POST", "/api/v1/login", R"({"acct": "some-body_7", "pw": "secret"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(nlohmann::json::parse(response.body), (nlohmann::json{{"username", "some-body_7"}}));
  const std::string cookie = CookieHeader(response);
  EXPECT_NE(cookie.find("HttpOnly"), std::string::npos) << cookie;
  EXPECT_NE(cookie.find("SameSite=Strict"), std::string::npos) << cookie;
  EXPECT_NE(cookie.find("Max-Age=86400"), std::string::npos) << cookie;
  EXPECT_EQ(Get("/api/v1/me", cookie.substr(0, cookie.find(';'))),
            (nlohmann::json{{"username", "some-body_7"}}));
}

TEST_P(ReaderTest, ASessionLastsADay) {
  const std::string cookie = SignIn();
  Advance(kDayMs - 2'000);
  EXPECT_EQ(Send("GET", "/api/v1/me", "", cookie).status, 200);
  Advance(4'000);
  EXPECT_EQ(Send("GET", "/api/v1/me", "", cookie).status, 401);
}

TEST_P(ReaderTest, ASessionSurvivesARestart) {
  const std::string cookie = SignIn();
  Restart();
  EXPECT_EQ(Send("GET", "/api/v1/me", "", cookie).status, 200);
}

TEST_P(ReaderTest, SigningInNeedsBothFields) {
  for (const char* body : {"", "{}", R"({"acct": "a"})", R"({"pw": "b"})",
                           R"({"acct": "", "pw": "b"})", R"({"acct": 1, "pw": "b"})", "nonsense"}) {
    const kit::Response response = Send("POST", "/api/v1/login", body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(ErrorOf(response), "missing fields") << body;
  }
  EXPECT_EQ(hn_.sign_ins(), 0u);
}

TEST_P(ReaderTest, WrongCredentialsAreRefused) {
  const kit::Response wrong = Send("POST", "/api/v1/login", R"({"acct": "a", "pw": "wrong"})");
  EXPECT_EQ(wrong.status, 401);
  EXPECT_EQ(ErrorOf(wrong), "invalid credentials");
  EXPECT_EQ(hn_.sign_ins(), 1u);
  // Names that cannot be accounts are rejected without a request.
  for (const char* account : {"a b", "a/b", "a&pw=secret", "\xc3\xa4", "a.b"}) {
    const nlohmann::json body = {{"acct", account}, {"pw", "secret"}};
    EXPECT_EQ(ErrorOf(Send("POST", "/api/v1/login", body.dump(), "", "10.0.0.2")),
              "invalid credentials");
  }
  EXPECT_EQ(hn_.sign_ins(), 1u);
  // A reserved name cannot be a document id either.
  EXPECT_EQ(Send("POST", "/api/v1/login", R"({"acct": "__a__", "pw": "secret"})").status, 401);
}

TEST_P(ReaderTest, TenFailedTriesForANameInFifteenMinutes) {
  const auto login = [&](const std::string& body, const std::string& peer = "127.0.0.1") {
    return Send("POST", "/api/v1/login", body, "", peer);
  };
  for (int i = 0; i < 10; ++i) EXPECT_EQ(login(Credentials("alice", "wrong")).status, 401);
  const kit::Response refused = login(Credentials("alice"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(HeaderOf(refused, "retry-after"), "900");
  EXPECT_EQ(hn_.sign_ins(), 10u);
  // Neither other users at this address nor the owner at another one are locked out.
  EXPECT_EQ(login(Credentials("bob")).status, 200);
  EXPECT_EQ(login(Credentials("alice"), kElsewhere).status, 200);
  EXPECT_EQ(login(Credentials("alice")).status, 429);
  Advance(15 * 60'000);
  EXPECT_EQ(login(Credentials("alice")).status, 200);
}

TEST_P(ReaderTest, SigningInDoesNotUseUpTries) {
  for (int i = 0; i < 30; ++i) SignIn("alice");
  for (int i = 0; i < 30; ++i) SignIn("user" + std::to_string(i));
  // Nor does a name that cannot be an account.
  for (int i = 0; i < 30; ++i) Send("POST", "/api/v1/login", Credentials("a b"));
  // Nor does a try without an answer.
  hn_.AnswerAllWith(503);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(Send("POST", "/api/v1/login", Credentials("alice")).status, 503);
  }
  hn_.AnswerAllWith(0);
  Advance(60'000);  // The requests go on after a pause.
  SignIn("alice");
}

TEST_P(ReaderTest, ABrowserThatSignedInBeforeIsNotLockedOutByOthers) {
  const std::string device =
      DeviceCookieOf(Send("POST", "/api/v1/login", Credentials("alice"), "", kElsewhere));
  const auto login = [&](const std::string& body, const std::string& cookie) {
    return Send("POST", "/api/v1/login", body, cookie).status;
  };
  // Somebody else at this address uses up all tries.
  for (size_t i = 0; i < kit::SignInLimits::kAddressFailuresMaxDefault; ++i) {
    EXPECT_EQ(login(Credentials("user" + std::to_string(i), "wrong"), ""), 401);
  }
  EXPECT_EQ(login(Credentials("alice"), ""), 429);
  EXPECT_EQ(login(Credentials("bob"), device), 429);  // It is the browser of alice.
  EXPECT_EQ(login(Credentials("alice"), device), 200);
  for (size_t i = 0; i < kit::SignInLimits::kNameFailuresMax; ++i) {
    EXPECT_EQ(login(Credentials("alice", "wrong"), device), 401);
  }
  EXPECT_EQ(login(Credentials("alice"), device), 429);
  // It is no session.
  const std::string token = device.substr(device.find('='));
  EXPECT_EQ(Send("GET", "/api/v1/me", "", Api::kSessionCookie + token).status, 401);
}

// Each session may be stored when it ends.
TEST_P(ReaderTest, TheSessionsOfAnAccountAreLimited) {
  for (size_t i = 0; i < Api::kSessionsPerWindowMax; ++i) SignIn("alice");
  const kit::Response refused = Send("POST", "/api/v1/login", Credentials("alice"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(HeaderOf(refused, "retry-after"), "3600");
  EXPECT_EQ(CookieHeader(refused), "");
  SignIn("bob");
  // Going on does not mean more and more requests to Hacker News.
  const size_t asked = hn_.sign_ins();
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(Send("POST", "/api/v1/login", Credentials("alice")).status, 429);
  }
  EXPECT_LT(hn_.sign_ins() - asked, kit::SignInLimits::kNameFailuresMax);
  Advance(kHourMs);
  SignIn("alice");
}

TEST_P(ReaderTest, SigningInSaysWhenHackerNewsIsDown) {
  hn_.AnswerAllWith(503);
  const kit::Response response = Send("POST", "/api/v1/login", R"({"acct": "a", "pw": "secret"})");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(ErrorOf(response), "Hacker News cannot be reached");
}

TEST_P(ReaderTest, SigningOutRemovesTheCookie) {
  const kit::Response response = Send("POST", "/api/v1/logout", "", SignIn());
  EXPECT_EQ(nlohmann::json::parse(response.body), (nlohmann::json{{"success", true}}));
  EXPECT_NE(CookieHeader(response).find("Max-Age=0"), std::string::npos) << CookieHeader(response);
}

TEST_P(ReaderTest, ACopiedCookieDoesNotWorkAfterSigningOut) {
  const std::string cookie = SignIn();
  const std::string elsewhere = SignIn();
  ASSERT_EQ(Send("GET", "/api/v1/me", "", cookie).status, 200);
  EXPECT_EQ(Send("POST", "/api/v1/logout", "", cookie).status, 200);
  for (int restarts = 0; restarts < 2; ++restarts) {
    EXPECT_EQ(Send("GET", "/api/v1/me", "", cookie).status, 401);
    EXPECT_EQ(Send("GET", "/api/v1/hidden", "", cookie).status, 401);
    EXPECT_EQ(Send("POST", "/api/v1/hidden", R"({"hidden": 1})", cookie).status, 401);
    EXPECT_EQ(Send("DELETE", "/api/v1/hidden/1", "", cookie).status, 401);
    // Another session of the same user goes on.
    EXPECT_EQ(Send("GET", "/api/v1/me", "", elsewhere).status, 200);
    Restart();
  }
  EXPECT_EQ(Send("POST", "/api/v1/logout", "", cookie).status, 200);  // Twice is fine.
}

TEST_P(ReaderTest, AnEndedSessionIsForgottenWhenItsTokenExpires) {
  const std::string cookie = SignIn();
  Advance(kHourMs);
  EXPECT_EQ(Send("POST", "/api/v1/logout", "", cookie).status, 200);
  EXPECT_EQ(Send("POST", "/api/v1/logout", "", "hackernews_session=forged").status, 200);
  const Result<client::QuerySnapshot> ended = collections_.ended_sessions().Get();
  ASSERT_TRUE(ended.ok());
  ASSERT_EQ(ended->size(), 1u);
  EXPECT_EQ(ended->documents[0].Get("expires_at")->timestamp(),
            client::Timestamp::FromMicros((kStartMs + kDayMs) * 1'000));
  const nlohmann::json config = nlohmann::json::parse(IndexConfigJson());
  size_t policies = 0;
  for (const nlohmann::json& field : config.at("fieldOverrides")) {
    const std::string group = field.at("collectionGroup");
    if (group.ends_with("-ended-sessions") && field.value("ttl", false)) ++policies;
  }
  EXPECT_EQ(policies, 4u);
}

TEST_P(ReaderTest, OtherEndpointsAreUnknown) {
  for (const char* path : {"/api/v1/nothing", "/api/v1", "/api/v2/stories", "/nothing"}) {
    const kit::Response response = Send("GET", path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_EQ(ErrorOf(response), "unknown endpoint") << path;
  }
}

}  // namespace
}  // namespace hearth::hackernews
