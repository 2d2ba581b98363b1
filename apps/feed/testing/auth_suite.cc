// Accounts and tokens.
#include <gmock/gmock.h>

#include "apps/feed/api/auth_api.h"
#include "apps/feed/testing/feed_test.h"
#include "base/base64.h"

namespace hearth::feed {
namespace {

constexpr char kPassword[] = "correct horse";
constexpr char kElsewhere[] = "192.0.2.7";  // An address of another machine.

nlohmann::json Credentials(const std::string& username, const std::string& password = kPassword) {
  return {{"username", username}, {"password", password}};
}

// "feed_refresh=..." as a browser would send it back; empty if not set.
std::string CookieOf(const kit::Response& response) {
  for (const auto& [name, value] : response.headers) {
    if (name == "set-cookie") return value.substr(0, value.find(';'));
  }
  return "";
}

std::string DeviceCookieOf(const kit::Response& response) {
  for (const auto& [name, value] : response.headers) {
    if (value.starts_with("feed_device=")) return value.substr(0, value.find(';'));
  }
  return "";
}

std::string CookieAttributesOf(const kit::Response& response) {
  for (const auto& [name, value] : response.headers) {
    if (name == "set-cookie") return value;
  }
  return "";
}

TEST_P(FeedTest, RegisteringSignsIn) {
  const nlohmann::json answer = Body(
      Register({{"username", "Tide.And_Stone"}, {"password", kPassword}, {"bio", "Sea."}}), 201);
  EXPECT_EQ(answer.at("token_type"), "Bearer");
  EXPECT_EQ(answer.at("expires_in"), 900);
  const nlohmann::json& user = answer.at("user");
  EXPECT_EQ(user.at("username"), "tide.and_stone");
  EXPECT_EQ(user.at("display_name"), "tide.and_stone");
  EXPECT_EQ(user.at("bio"), "Sea.");
  EXPECT_EQ(user.at("is_new_user"), true);
  EXPECT_EQ(user.at("created_at"), "2025-11-29T10:00:00Z");
  EXPECT_FALSE(user.contains("password_hash"));
  const Account account = {.id = user.at("id"), .token = answer.at("access_token")};
  EXPECT_EQ(GetAs(account, "/me"), user);
  EXPECT_EQ(Body(Refresh(answer.at("refresh_token"))).at("user"), user);
}

TEST_P(FeedTest, UsernamesAreUniqueWhateverTheirCase) {
  NewUser("alice");
  ExpectError(Register(Credentials("ALICE")), 409, "username_taken");
}

TEST_P(FeedTest, RacingForAUsernameExactlyOneWins) {
  const std::map<int, int> statuses =
      AtOnce(3, [&](int) { return Register(Credentials("alice")); });
  EXPECT_EQ(statuses, (std::map<int, int>{{201, 1}, {409, 2}}));
  EXPECT_EQ(*users_.Count(), 1);
}

TEST_P(FeedTest, BadUsernamesAreRefused) {
  for (const std::string name : {"", "ab", "a b c", "naïve", "a/b/c", "abc-def", "__init__",
                                 "abcdefghijklmnopqrstuvwxyz12345"}) {
    ExpectError(Register(Credentials(name)), 400, "invalid_username");
  }
  ExpectError(Register({{"password", kPassword}}), 400, "invalid_username");
  ExpectError(Register({{"username", 5}, {"password", kPassword}}), 400, "invalid_username");
}

TEST_P(FeedTest, BadPasswordsAreRefusedAndNotQuoted) {
  const kit::Response response = Register(Credentials("alice", "hunter2"));
  ExpectError(response, 400, "invalid_password");
  EXPECT_EQ(response.body.find("hunter2"), std::string::npos);
  ExpectError(Register(Credentials("alice", std::string(201, 'x'))), 400, "invalid_password");
  ExpectError(Register({{"username", "alice"}}), 400, "invalid_password");
}

TEST_P(FeedTest, LongNamesAndBiosAreRefused) {
  nlohmann::json json = Credentials("alice");
  json["display_name"] = std::string(AuthApi::kDisplayNameCharactersMax + 1, 'x');
  ExpectError(Register(json), 400, "invalid_display_name");
  json["display_name"] = "Alice";
  json["bio"] = std::string(AuthApi::kBioCharactersMax + 1, 'x');
  ExpectError(Register(json), 400, "invalid_bio");
}

TEST_P(FeedTest, BodiesThatAreNoJsonObjectAreRefused) {
  for (const char* path : {"/auth/register", "/auth/login", "/auth/refresh"}) {
    ExpectError(Send("POST", path, {.body = "{"}), 400, "bad_request");
    ExpectError(Send("POST", path, {.body = "[]"}), 400, "bad_request");
  }
}

TEST_P(FeedTest, SigningInNeedsTheRightPassword) {
  Body(Register(Credentials("alice")), 201);
  EXPECT_EQ(Body(Login(Credentials("Alice"))).at("user").at("username"), "alice");
  ExpectError(Login(Credentials("alice", "wrong horse")), 401, "invalid_credentials");
  ExpectError(Login(Credentials("nobody")), 401, "invalid_credentials");
  ExpectError(Login(Credentials("no name/at all")), 401, "invalid_credentials");
}

TEST_P(FeedTest, AccountsWithoutAPasswordCannotSignIn) {
  NewUser("alice");
  ExpectError(Login(Credentials("alice", "")), 401, "invalid_credentials");
}

TEST_P(FeedTest, SigningInIsLimitedByAddressAndName) {
  for (size_t i = 0; i < kit::SignInLimits::kNameFailuresMax; ++i) {
    ExpectError(Login(Credentials("alice", "wrong")), 401, "invalid_credentials");
  }
  const kit::Response limited = Login(Credentials("ALICE", "wrong"));
  ExpectError(limited, 429, "too_many_requests");
  EXPECT_THAT(limited.headers, testing::Contains(testing::Pair("retry-after", "900")));
  ExpectError(Login(Credentials("bob", "wrong")), 401, "invalid_credentials");
  ExpectError(Login(Credentials("alice", "wrong"), kElsewhere), 401, "invalid_credentials");
  Advance(kit::SignInLimits::kWindow);
  ExpectError(Login(Credentials("alice", "wrong")), 401, "invalid_credentials");
}

TEST_P(FeedTest, TheRightPasswordNeverUsesUpTheLimit) {
  Body(Register(Credentials("alice")), 201);
  for (size_t i = 0; i < kit::SignInLimits::kNameFailuresMax + 2; ++i)
    Body(Login(Credentials("alice")));
  // Nor does an attempt that fails for another reason.
  transport_->FailReads(Status(Code::kUnavailable, "nobody there"));
  for (size_t i = 0; i < kit::SignInLimits::kNameFailuresMax + 2; ++i) {
    ExpectError(Login(Credentials("alice")), 503, "unavailable");
  }
  transport_->FailReads(Status());
  Body(Login(Credentials("alice")));
}

TEST_P(FeedTest, AddressesOfThisMachineAreOneClient) {
  size_t made = 0;
  const auto address = [](size_t i) { return "127.0.0." + std::to_string(i + 1); };
  const auto registered = [&](size_t i) {
    return Send("POST", "/auth/register",
                {.json = Credentials("user" + std::to_string(i)), .peer = address(i)});
  };
  while (registered(made).status == 201) ++made;
  EXPECT_EQ(made, kLimits.registrations_per_hour);
  for (size_t i = 0; i < kit::SignInLimits::kNameFailuresMax; ++i) {
    ExpectError(Login(Credentials("user0", "wrong"), address(i)), 401, "invalid_credentials");
  }
  ExpectError(Login(Credentials("user0", "wrong"), "::1"), 429, "too_many_requests");
}

TEST_P(FeedTest, PasswordsAreHashedWithinTheMemoryBudget) {
  Body(Register(Credentials("alice")), 201);
  memory_.Take(memory_.bytes_max());
  for (size_t i = 0; i < kit::SignInLimits::kNameFailuresMax + 1; ++i) {
    ExpectError(Login(Credentials("alice")), 503, "unavailable");
    ExpectError(Login(Credentials("nobody")), 503, "unavailable");
  }
  ExpectError(Register(Credentials("bob")), 503, "unavailable");
  memory_.Return(memory_.bytes_max());
  Body(Login(Credentials("alice")));
  EXPECT_EQ(memory_.used_bytes(), 0u);
}

TEST_P(FeedTest, ABrowserThatSignedInBeforeIsNotLockedOutByOthers) {
  nlohmann::json json = Credentials("alice");
  json["session"] = "cookie";
  const std::string device = DeviceCookieOf(Register(json));
  ASSERT_THAT(device, testing::StartsWith("feed_device="));
  for (size_t i = 0; i < kit::SignInLimits::kNameFailuresMax; ++i) {
    ExpectError(Login(Credentials("alice", "wrong")), 401, "invalid_credentials");
  }
  ExpectError(Login(Credentials("alice")), 429, "too_many_requests");
  const auto login = [&](const nlohmann::json& credentials, const std::string& cookie) {
    return Send("POST", "/auth/login", {.json = credentials, .cookie = cookie});
  };
  const kit::Response again = login(json, device);
  Body(again);
  // Its own failures are limited, with the same browser's next cookie too.
  for (size_t i = 0; i < kit::SignInLimits::kNameFailuresMax; ++i) {
    ExpectError(login(Credentials("alice", "wrong"), DeviceCookieOf(again)), 401,
                "invalid_credentials");
  }
  ExpectError(login(json, device), 429, "too_many_requests");
  // It says nothing about other users, and is no access token.
  for (size_t i = 0; i < kit::SignInLimits::kNameFailuresMax; ++i) {
    ExpectError(login(Credentials("bob", "wrong"), device), 401, "invalid_credentials");
  }
  ExpectError(Login(Credentials("bob")), 429, "too_many_requests");
  ExpectError(Send("GET", "/me", {.token = device.substr(device.find('=') + 1)}), 401,
              "unauthenticated");
}

TEST_P(FeedTest, RegisteringIsLimitedByAddress) {
  size_t made = 0;
  kit::Response last;
  while ((last = Register(Credentials("user" + std::to_string(made)))).status == 201) ++made;
  EXPECT_EQ(made, kLimits.registrations_per_hour);
  ExpectError(last, 429, "too_many_requests");
  EXPECT_THAT(last.headers, testing::Contains(testing::Pair("retry-after", "3600")));
  EXPECT_THAT(last.body, testing::HasSubstr("try again in 60 minutes"));
  // A name that is taken, or invalid, does not count.
  ExpectError(Register(Credentials("user0")), 409, "username_taken");
  Body(Send("POST", "/auth/register", {.json = Credentials("elsewhere"), .peer = kElsewhere}), 201);
  Advance(AuthApi::kRegistrationWindow);
  Body(Register(Credentials("later")), 201);
}

TEST_P(FeedTest, PagesGetTheirRefreshTokenAsACookieOnly) {
  nlohmann::json json = Credentials("alice");
  json["session"] = "cookie";
  const kit::Response registered = Register(json);
  EXPECT_FALSE(Body(registered, 201).contains("refresh_token"));
  EXPECT_THAT(
      CookieAttributesOf(registered),
      testing::AllOf(testing::StartsWith("feed_refresh="), testing::HasSubstr("HttpOnly"),
                     testing::HasSubstr("SameSite=Strict"), testing::HasSubstr("Max-Age=2592000")));
  const kit::Response refreshed = Send("POST", "/auth/refresh", {.cookie = CookieOf(registered)});
  EXPECT_FALSE(Body(refreshed).contains("refresh_token"));
  EXPECT_NE(CookieOf(refreshed), CookieOf(registered));
  EXPECT_EQ(Send("POST", "/auth/refresh",
                 {.json = nlohmann::json::object(), .cookie = CookieOf(refreshed)})
                .status,
            200);
  json["session"] = "local storage";
  ExpectError(Login(json), 400, "bad_request");
}

TEST_P(FeedTest, RefreshTokensAreReplacedByEachUse) {
  const Account alice = NewUser("alice");
  std::string token = NewFamily(alice);
  for (int i = 0; i < 3; ++i) {
    const kit::Response response = Refresh(token);
    EXPECT_EQ(CookieOf(response), "");
    const nlohmann::json answer = Body(response);
    EXPECT_NE(answer.at("refresh_token"), token);
    EXPECT_EQ(GetAs({alice.id, answer.at("access_token")}, "/me").at("id"), alice.id);
    token = answer.at("refresh_token");
  }
}

TEST_P(FeedTest, AnOldRefreshTokenRevokesTheFamilyAndNoOther) {
  const Account alice = NewUser("alice");
  const std::string old_token = NewFamily(alice);
  const std::string other_family = NewFamily(alice);
  const std::string new_token = Body(Refresh(old_token)).at("refresh_token");
  ExpectError(Refresh(old_token), 401, "invalid_refresh_token");
  ExpectError(Refresh(new_token), 401, "invalid_refresh_token");
  Body(Refresh(other_family));
}

TEST_P(FeedTest, RacingRefreshesHaveAtMostOneWinner) {
  const std::string token = NewFamily(NewUser("alice"));
  const std::map<int, int> statuses = AtOnce(4, [&](int) { return Refresh(token); });
  EXPECT_EQ(statuses, (std::map<int, int>{{200, 1}, {401, 3}}));
}

TEST_P(FeedTest, RefreshTokensExpireAfterThirtyDays) {
  const Account alice = NewUser("alice");
  const std::string token = NewFamily(alice);
  Advance(Tokens::kRefreshLifetime - std::chrono::seconds(1));
  const std::string next = Body(Refresh(token)).at("refresh_token");
  Advance(Tokens::kRefreshLifetime);
  ExpectError(Refresh(next), 401, "invalid_refresh_token");
}

TEST_P(FeedTest, ForeignRefreshTokensAreRefused) {
  const Account alice = NewUser("alice");
  const std::string token = NewFamily(alice);
  for (const std::string& wrong :
       {std::string(), std::string("."), std::string("../users"), alice.token, token + "0",
        std::string(32, '0') + "." + std::string(64, '0')}) {
    ExpectError(Refresh(wrong), 401, "invalid_refresh_token");
  }
  ExpectError(Send("POST", "/auth/refresh"), 401, "invalid_refresh_token");
  ExpectError(Send("POST", "/auth/refresh", {.json = {{"refresh_token", 7}}}), 400, "bad_request");
  Body(Refresh(token));
}

TEST_P(FeedTest, TheDatabaseHasNoRefreshTokens) {
  const std::string token = NewFamily(NewUser("alice"));
  const std::string secret = token.substr(token.find('.') + 1);
  const Result<client::QuerySnapshot> sessions = collections_.sessions().Get();
  ASSERT_TRUE(sessions.ok());
  ASSERT_EQ(sessions->size(), 1u);
  EXPECT_EQ(ToString(client::Value(sessions->documents[0].Data())).find(secret), std::string::npos);
  EXPECT_TRUE(sessions->documents[0].Get("expires_at")->timestamp());
}

TEST_P(FeedTest, LogoutEndsTheFamily) {
  const Account alice = NewUser("alice");
  const std::string token = NewFamily(alice);
  const std::string in_cookie = NewFamily(alice);
  EXPECT_EQ(Send("POST", "/auth/logout", {.json = {{"refresh_token", token}}}).status, 204);
  ExpectError(Refresh(token), 401, "invalid_refresh_token");
  const kit::Response response =
      Send("POST", "/auth/logout", {.cookie = "feed_refresh=" + in_cookie});
  EXPECT_EQ(response.status, 204);
  EXPECT_THAT(CookieAttributesOf(response), testing::StartsWith("feed_refresh=;"));
  ExpectError(Refresh(in_cookie), 401, "invalid_refresh_token");
}

TEST_P(FeedTest, LogoutOfWhoeverIsNotSignedInIsFine) {
  EXPECT_EQ(Send("POST", "/auth/logout").status, 204);
  EXPECT_EQ(Send("POST", "/auth/logout", {.body = "no JSON"}).status, 204);
  EXPECT_EQ(Send("POST", "/auth/logout", {.json = {{"refresh_token", "nonsense"}}}).status, 204);
}

TEST_P(FeedTest, AccessTokensExpireAfterFifteenMinutes) {
  const Account alice = NewUser("alice");
  Advance(Tokens::kAccessLifetime - std::chrono::seconds(1));
  GetAs(alice, "/me");
  Advance(std::chrono::seconds(1));
  ExpectError(SendAs(alice, "GET", "/me"), 401, "unauthenticated");
}

TEST_P(FeedTest, ForgedAccessTokensAreRefused) {
  const Account alice = NewUser("alice");
  const nlohmann::json claims = {{"sub", ToText(alice.id)}, {"kind", "access"}};
  const kit::SessionSigner foreign =
      *kit::SessionSigner::Make("a secret that nobody here has ever used", clock_);
  const std::chrono::minutes lifetime = Tokens::kAccessLifetime;
  nlohmann::json unsigned_claims = claims;
  unsigned_claims["exp"] = kStartSeconds + 900;
  const std::string unsigned_token =
      EncodeBase64Url(R"({"alg":"none"})") + "." + EncodeBase64Url(unsigned_claims.dump()) + ".";
  const std::vector<std::string> tokens = {
      "nonsense",
      foreign.Sign(claims, lifetime),
      unsigned_token,
      NewFamily(alice),
      signer_.Sign({{"sub", ToText(alice.id)}}, lifetime),
      signer_.Sign({{"sub", ToText(alice.id)}, {"kind", "refresh"}}, lifetime),
      signer_.Sign({{"sub", alice.id}, {"kind", "access"}}, lifetime),
      signer_.Sign({{"sub", "-1"}, {"kind", "access"}}, lifetime),
      signer_.Sign({{"kind", "access"}}, lifetime)};
  for (const std::string& token : tokens) {
    ExpectError(Send("GET", "/me", {.token = token}), 401, "unauthenticated");
    // The endpoint is public, but an invalid token is rejected anyway.
    ExpectError(Send("GET", "/users/search", {.token = token}), 401, "unauthenticated");
  }
}

TEST_P(FeedTest, TokensOfAccountsThatAreGoneAreRefused) {
  const std::string token = tokens_.SignAccess(UserId{4'711});
  ExpectError(Send("GET", "/me", {.token = token}), 401, "unauthenticated");
  ExpectError(Send("PATCH", "/me/onboarding", {.token = token}), 401, "unauthenticated");
}

TEST_P(FeedTest, WhatChangesThingsNeedsAnAccessToken) {
  const std::vector<std::pair<std::string, std::string>> endpoints = {
      {"GET", "/me"},
      {"PATCH", "/me/onboarding"},
      {"GET", "/feed"},
      {"POST", "/users/1/follow"},
      {"DELETE", "/users/1/follow"},
      {"POST", "/posts"},
      {"PATCH", "/posts/1"},
      {"DELETE", "/posts/1"},
      {"POST", "/posts/1/like"},
      {"DELETE", "/posts/1/like"},
      {"POST", "/posts/1/comments"},
      {"DELETE", "/posts/1/comments/1"}};
  for (const auto& [method, target] : endpoints) {
    ExpectError(Send(method, target), 401, "unauthenticated");
  }
}

TEST_P(FeedTest, OnboardingNeedsThreeFollows) {
  const Account alice = NewUser("alice");
  std::vector<Account> others;
  for (int i = 0; i < 4; ++i) others.push_back(NewUser("other" + std::to_string(i)));
  for (int follows = 0; follows < AuthApi::kFollowsWanted; ++follows) {
    const kit::Response refused = SendAs(alice, "PATCH", "/me/onboarding");
    ExpectError(refused, 409, "follows_missing");
    EXPECT_THAT(refused.body,
                testing::HasSubstr("Choose " + std::to_string(3 - follows) + " more"));
    EXPECT_EQ(GetAs(alice, "/me").at("is_new_user"), true);
    const std::string id = ToText(others[static_cast<size_t>(follows)].id);
    EXPECT_EQ(SendAs(alice, "POST", "/users/" + id + "/follow").status, 201);
  }
  EXPECT_EQ(Body(SendAs(alice, "PATCH", "/me/onboarding")).at("is_new_user"), false);
  // Afterwards the number of follows does not matter.
  EXPECT_EQ(SendAs(alice, "DELETE", "/users/" + ToText(others[0].id) + "/follow").status, 204);
  EXPECT_EQ(Body(SendAs(alice, "PATCH", "/me/onboarding")).at("is_new_user"), false);
}

TEST_P(FeedTest, OnboardingNeedsAsManyFollowsAsThereAreAccounts) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  ExpectError(SendAs(alice, "PATCH", "/me/onboarding"), 409, "follows_missing");
  EXPECT_EQ(SendAs(alice, "POST", "/users/" + ToText(bob.id) + "/follow").status, 201);
  EXPECT_EQ(Body(SendAs(alice, "PATCH", "/me/onboarding")).at("is_new_user"), false);
}

TEST_P(FeedTest, OnboardingEndsOnce) {
  const Account alice = NewUser("alice");
  EXPECT_EQ(GetAs(alice, "/me").at("is_new_user"), true);
  EXPECT_EQ(Body(SendAs(alice, "PATCH", "/me/onboarding")).at("is_new_user"), false);
  EXPECT_EQ(Body(SendAs(alice, "PATCH", "/me/onboarding")).at("is_new_user"), false);
  EXPECT_EQ(GetAs(alice, "/me").at("is_new_user"), false);
}

}  // namespace
}  // namespace hearth::feed
