#include "kit/jobs/rate_limiter.h"

#include <gtest/gtest.h>

#include "base/testing/fake_clock.h"

namespace hearth::kit {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RateLimiterTest : public testing::Test {
 protected:
  // How long the caller must wait.
  milliseconds Take(RateLimiter& limiter) {
    return std::chrono::round<milliseconds>(limiter.Take() - clock_.Monotonic());
  }

  FakeClock clock_{0};
};

TEST_F(RateLimiterTest, WithoutARateNobodyWaits) {
  for (const double rate : {0.0, -1.0}) {
    RateLimiter limiter(clock_, rate);
    for (int i = 0; i < 1'000; ++i) EXPECT_EQ(Take(limiter), milliseconds(0));
  }
}

TEST_F(RateLimiterTest, ASecondsWorthGoesAtOnceThenTheyQueue) {
  RateLimiter limiter(clock_, 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Take(limiter), milliseconds(0));
  EXPECT_EQ(Take(limiter), milliseconds(250));
  EXPECT_EQ(Take(limiter), milliseconds(500));
}

TEST_F(RateLimiterTest, FillsUpAgainButNotBeyond) {
  RateLimiter limiter(clock_, 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Take(limiter), milliseconds(0));
  clock_.Advance(milliseconds(500));
  EXPECT_EQ(Take(limiter), milliseconds(0));
  EXPECT_EQ(Take(limiter), milliseconds(0));
  EXPECT_EQ(Take(limiter), milliseconds(250));
  clock_.Advance(seconds(100));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Take(limiter), milliseconds(0));
  EXPECT_EQ(Take(limiter), milliseconds(250));
}

TEST_F(RateLimiterTest, LessThanOneASecondHoldsOne) {
  RateLimiter limiter(clock_, 0.5);
  EXPECT_EQ(Take(limiter), milliseconds(0));
  EXPECT_EQ(Take(limiter), milliseconds(2'000));
  clock_.Advance(seconds(60));
  EXPECT_EQ(Take(limiter), milliseconds(0));
  EXPECT_EQ(Take(limiter), milliseconds(2'000));
}

TEST_F(RateLimiterTest, ARateThatIsHardlyOneIsOneADay) {
  RateLimiter limiter(clock_, 1e-300);
  EXPECT_EQ(Take(limiter), milliseconds(0));
  EXPECT_EQ(Take(limiter), seconds(86'400));
}

}  // namespace
}  // namespace hearth::kit
