#include "kit/web/known_devices.h"

#include <gtest/gtest.h>

#include "base/testing/fake_clock.h"

namespace hearth::kit {
namespace {

class KnownDevicesTest : public testing::Test {
 protected:
  static Request RequestWith(const std::string& cookie) {
    http::RequestHead head;
    head.set_method("POST");
    head.set_target("/login");
    if (!cookie.empty()) head.AddHeader("cookie", cookie);
    return Request(std::move(head), "", "/login", "10.0.0.1");
  }
  // The cookie that a browser sends after signing in.
  std::string SignIn(const std::string& cookie, const std::string& username) {
    const auto [name, value] = devices_.Remember(RequestWith(cookie), username);
    EXPECT_EQ(name, "set-cookie");
    EXPECT_NE(value.find("HttpOnly"), std::string::npos) << value;
    return value.substr(0, value.find(';'));
  }
  std::optional<std::string> Find(const std::string& cookie, const std::string& username) {
    return devices_.Find(RequestWith(cookie), username);
  }

  FakeClock clock_{1'800'000'000'000'000};
  const SessionSigner signer_ = *SessionSigner::Make(std::string(32, 's'), clock_);
  const KnownDevices devices_{signer_, "device"};
};

TEST_F(KnownDevicesTest, ABrowserIsKnownOnceItsUserHasSignedIn) {
  EXPECT_EQ(Find("", "alice"), std::nullopt);
  const std::string cookie = SignIn("", "alice");
  const std::optional<std::string> id = Find(cookie, "alice");
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ(id->size(), 32u);
  EXPECT_EQ(Find(cookie, "bob"), std::nullopt);
  EXPECT_NE(Find(SignIn("", "alice"), "alice"), id);  // Another browser.
}

TEST_F(KnownDevicesTest, ABrowserKeepsItsIdUntilAnotherUserSignsIn) {
  const std::string cookie = SignIn("", "alice");
  EXPECT_EQ(Find(SignIn(cookie, "alice"), "alice"), Find(cookie, "alice"));
  const std::string of_bob = SignIn(cookie, "bob");
  EXPECT_EQ(Find(of_bob, "alice"), std::nullopt);
  EXPECT_NE(Find(of_bob, "bob"), Find(cookie, "alice"));
}

TEST_F(KnownDevicesTest, OtherTokensNameNoBrowser) {
  const std::string cookie = SignIn("", "alice");
  const auto signed_as = [&](const nlohmann::json& claims) {
    return "device=" + signer_.Sign(claims, std::chrono::hours(1));
  };
  EXPECT_TRUE(Find(signed_as({{"name", "alice"}, {"id", "7"}, {"kind", "device"}}), "alice"));
  for (const std::string& other :
       {signed_as({{"name", "alice"}, {"id", "7"}}),
        signed_as({{"name", "alice"}, {"id", "7"}, {"kind", "access"}}),
        signed_as({{"name", "alice"}, {"id", 7}, {"kind", "device"}}),
        signed_as({{"name", "alice"}, {"kind", "device"}}), signed_as({{"kind", "device"}}),
        std::string("device="), std::string("device=a.b.c"), cookie + "x",
        "other=" + cookie.substr(cookie.find('=') + 1)}) {
    EXPECT_EQ(Find(other, "alice"), std::nullopt) << other;
  }
  clock_.Advance(KnownDevices::kLifetime);
  EXPECT_EQ(Find(cookie, "alice"), std::nullopt);
}

}  // namespace
}  // namespace hearth::kit
