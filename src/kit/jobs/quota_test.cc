#include "kit/jobs/quota.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/testing/fake_clock.h"

namespace hearth::kit {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

class QuotaWindowsTest : public testing::Test {
 protected:
  FakeClock clock_{1'000'000};
};

TEST_F(QuotaWindowsTest, AllowsTheLimitAndNotOneMore) {
  QuotaWindows quota(clock_, 3, minutes(15), 100);
  for (size_t left = 3; left-- > 0;) {
    const QuotaWindows::Outcome outcome = quota.Spend("a");
    EXPECT_TRUE(outcome.allowed);
    EXPECT_EQ(outcome.remaining, left);
  }
  const QuotaWindows::Outcome refused = quota.Spend("a");
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.remaining, 0u);
  EXPECT_EQ(refused.until_reset, minutes(15));
}

TEST_F(QuotaWindowsTest, KeysHaveWindowsOfTheirOwn) {
  QuotaWindows quota(clock_, 1, minutes(15), 100);
  EXPECT_TRUE(quota.Spend("a").allowed);
  EXPECT_TRUE(quota.Spend("b").allowed);
  EXPECT_FALSE(quota.Spend("a").allowed);
}

TEST_F(QuotaWindowsTest, WindowBeginsWithTheFirstUseAndEndsOnTime) {
  QuotaWindows quota(clock_, 1, minutes(15), 100);
  clock_.Advance(minutes(7));
  EXPECT_TRUE(quota.Spend("a").allowed);
  clock_.Advance(minutes(15) - milliseconds(1));
  EXPECT_EQ(quota.Spend("a").until_reset, milliseconds(1));
  EXPECT_FALSE(quota.Spend("a").allowed);
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(quota.Spend("a").allowed);
  EXPECT_EQ(quota.Spend("a").until_reset, minutes(15));
}

TEST_F(QuotaWindowsTest, SettingTheMachinesClockChangesNothing) {
  QuotaWindows quota(clock_, 1, minutes(15), 100);
  EXPECT_TRUE(quota.Spend("a").allowed);
  clock_.SetWall(int64_t{1} << 50);
  EXPECT_FALSE(quota.Spend("a").allowed);
  clock_.SetWall(0);
  EXPECT_FALSE(quota.Spend("a").allowed);
}

TEST_F(QuotaWindowsTest, ResetGivesANewWindow) {
  QuotaWindows quota(clock_, 1, minutes(15), 100);
  EXPECT_TRUE(quota.Spend("a").allowed);
  quota.Reset("a");
  quota.Reset("never seen");
  EXPECT_TRUE(quota.Spend("a").allowed);
}

TEST_F(QuotaWindowsTest, ARefundIsAUseAgain) {
  QuotaWindows quota(clock_, 2, minutes(15), 100);
  quota.Refund("never seen");
  EXPECT_TRUE(quota.Spend("a").allowed);
  quota.Refund("a");
  quota.Refund("a");  // No more than was spent.
  EXPECT_TRUE(quota.Spend("a").allowed);
  EXPECT_TRUE(quota.Spend("a").allowed);
  EXPECT_FALSE(quota.Spend("a").allowed);
  quota.Refund("a");
  EXPECT_TRUE(quota.Spend("a").allowed);
}

TEST_F(QuotaWindowsTest, ALimitMayBeStricterForOnce) {
  QuotaWindows quota(clock_, 3, minutes(15), 100);
  EXPECT_TRUE(quota.Spend("a", 1).allowed);
  EXPECT_FALSE(quota.Spend("a", 1).allowed);
  EXPECT_EQ(quota.Spend("a", 1).remaining, 0u);
  EXPECT_TRUE(quota.Spend("a").allowed);
  EXPECT_TRUE(quota.Spend("a", 10).allowed);
  EXPECT_FALSE(quota.Spend("a", 10).allowed);  // Never looser.
}

TEST_F(QuotaWindowsTest, AFullTableDropsTheLeastUsefulWindowAndRefusesNobody) {
  QuotaWindows quota(clock_, 2, minutes(15), 3);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(quota.Spend("spent").allowed);
  EXPECT_TRUE(quota.Spend("old").allowed);
  EXPECT_TRUE(quota.Spend("new").allowed);
  EXPECT_EQ(quota.Spend("newest").remaining, 1u);  // Drops "old".
  EXPECT_FALSE(quota.Spend("spent").allowed);
  EXPECT_EQ(quota.Spend("new").remaining, 0u);
  EXPECT_EQ(quota.Spend("old").remaining, 1u);  // Drops "newest".
  EXPECT_EQ(quota.Spend("old").remaining, 0u);
  // If no window has uses left, the oldest is dropped.
  EXPECT_TRUE(quota.Spend("other").allowed);
  EXPECT_FALSE(quota.Spend("new").allowed);
  EXPECT_FALSE(quota.Spend("old").allowed);
  EXPECT_TRUE(quota.Spend("spent").allowed);
}

TEST_F(QuotaWindowsTest, AFullTableDropsAnEndedWindowFirst) {
  QuotaWindows quota(clock_, 1, minutes(15), 2);
  EXPECT_TRUE(quota.Spend("ended").allowed);
  clock_.Advance(minutes(10));
  EXPECT_TRUE(quota.Spend("spent").allowed);
  clock_.Advance(minutes(5));
  EXPECT_TRUE(quota.Spend("new").allowed);
  EXPECT_FALSE(quota.Spend("spent").allowed);
}

TEST_F(QuotaWindowsTest, ALimitOfNothingAllowsNothing) {
  QuotaWindows none(clock_, 0, minutes(15), 10);
  EXPECT_FALSE(none.Spend("a").allowed);
}

TEST_F(QuotaWindowsTest, ManyThreadsNeverSpendMoreThanTheLimit) {
  QuotaWindows quota(clock_, 100, minutes(15), 10);
  std::atomic<size_t> allowed = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&quota, &allowed] {
      for (size_t j = 0; j < 50; ++j) allowed += quota.Spend("a").allowed ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allowed, 100u);
}

}  // namespace
}  // namespace hearth::kit
