#include "kit/jobs/sign_in_limits.h"

#include <gtest/gtest.h>

#include "base/testing/fake_clock.h"

namespace hearth::kit {
namespace {

class SignInLimitsTest : public testing::Test {
 protected:
  // Whether an attempt may be made, which then fails.
  bool Fail(const std::string& address, const std::string& username) {
    SignInLimits::Client client = {.address = address, .username = username};
    return !limits_.Begin(&client).has_value();
  }
  bool Succeed(const std::string& address, const std::string& username) {
    SignInLimits::Client client = {.address = address, .username = username};
    if (limits_.Begin(&client)) return false;
    limits_.Succeed(client);
    return true;
  }

  FakeClock clock_{1'000'000};
  SignInLimits limits_{clock_, 100};
};

TEST_F(SignInLimitsTest, AnAddressHasANumberOfFailuresOverAllNames) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(Fail("10.0.0.1", "name" + std::to_string(i)));
  EXPECT_FALSE(Fail("10.0.0.1", "another"));
  EXPECT_FALSE(Succeed("10.0.0.1", "another"));
  EXPECT_TRUE(Succeed("10.0.0.2", "another"));
  clock_.Advance(SignInLimits::kWindow);
  EXPECT_TRUE(Succeed("10.0.0.1", "another"));
}

TEST_F(SignInLimitsTest, SuccessesDoNotCountAndDoNotClearTheFailuresOfAnAddress) {
  for (int i = 0; i < 99; ++i) EXPECT_TRUE(Fail("10.0.0.1", "name" + std::to_string(i)));
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(Succeed("10.0.0.1", "mine"));
  EXPECT_TRUE(Fail("10.0.0.1", "name99"));
  EXPECT_FALSE(Fail("10.0.0.1", "name100"));
}

TEST_F(SignInLimitsTest, GuessersWithManyAddressesDoNotLockTheOwnerOut) {
  size_t guesses = 0;
  for (int i = 0; i < 100; ++i) {
    while (Fail("10.0.1." + std::to_string(i), "alice")) ++guesses;
  }
  // The first few addresses have ten tries each, all others have three.
  EXPECT_LE(guesses, SignInLimits::kAttackFailuresMax + 100 * SignInLimits::kGuardedFailuresMax);
  EXPECT_TRUE(Fail("10.0.0.1", "alice"));  // A typing error.
  EXPECT_TRUE(Succeed("10.0.0.1", "alice"));
  EXPECT_TRUE(Succeed("10.0.0.1", "bob"));
}

TEST_F(SignInLimitsTest, AttemptsAtTheSameTimeDoNotExceedTheLimit) {
  SignInLimits::Client clients[SignInLimits::kNameFailuresMax + 1];
  size_t begun = 0;
  for (SignInLimits::Client& client : clients) {
    client = {.address = "10.0.0.1", .username = "alice"};
    if (!limits_.Begin(&client)) ++begun;
  }
  EXPECT_EQ(begun, SignInLimits::kNameFailuresMax);
  limits_.Cancel(clients[0]);
  EXPECT_TRUE(Fail("10.0.0.1", "alice"));
  EXPECT_FALSE(Fail("10.0.0.1", "alice"));
}

TEST_F(SignInLimitsTest, TheTimeToWaitIsThatOfTheLimit) {
  EXPECT_TRUE(Fail("10.0.0.1", "alice"));
  clock_.Advance(std::chrono::minutes(5));
  while (Fail("10.0.0.1", "alice")) continue;
  SignInLimits::Client client = {.address = "10.0.0.1", .username = "alice"};
  EXPECT_EQ(limits_.Begin(&client), std::chrono::minutes(10));
}

}  // namespace
}  // namespace hearth::kit
