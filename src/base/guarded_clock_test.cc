#include "base/guarded_clock.h"

#include <gtest/gtest.h>

#include "base/testing/fake_clock.h"

namespace hearth {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;

constexpr int64_t kStart = 1'800'000'000'000'000;
constexpr int64_t kYear = microseconds(hours(24 * 365)).count();

TEST(GuardedClock, FollowsTheMachinesClock) {
  FakeClock machine(kStart);
  const GuardedClock clock(machine, 0);
  EXPECT_EQ(clock.WallMicros(), kStart);
  machine.Advance(seconds(10));
  EXPECT_EQ(clock.WallMicros(), kStart + 10'000'000);
  machine.SetWall(kStart - kYear);
  EXPECT_EQ(clock.WallMicros(), kStart - kYear);
  machine.SetWall(kStart);
  EXPECT_EQ(clock.WallMicros(), kStart) << "after it was set back and forth";
}

TEST(GuardedClock, FollowsALeapOfAFewDays) {
  FakeClock machine(kStart);
  const GuardedClock clock(machine, 0);
  machine.SetWall(kStart + GuardedClock::kLeapMax.count());
  EXPECT_EQ(clock.WallMicros(), kStart + GuardedClock::kLeapMax.count());
}

TEST(GuardedClock, DoesNotFollowALeapOfYears) {
  FakeClock machine(kStart);
  const GuardedClock clock(machine, 0);
  machine.SetWall(kStart + 60 * kYear);
  EXPECT_EQ(clock.WallMicros(), kStart);
  EXPECT_EQ(clock.ignored_leap(), microseconds(60 * kYear));
  machine.Advance(seconds(5));
  EXPECT_EQ(clock.WallMicros(), kStart + 5'000'000) << "time goes on";
  machine.SetWall(kStart + 6'000'000);
  EXPECT_EQ(clock.WallMicros(), kStart + 6'000'000) << "the clock was corrected";
  EXPECT_EQ(clock.ignored_leap(), microseconds(0));
}

TEST(GuardedClock, ALongRunIsNoLeap) {
  FakeClock machine(kStart);
  const GuardedClock clock(machine, 0);
  machine.Advance(microseconds(10 * kYear));
  EXPECT_EQ(clock.WallMicros(), kStart + 10 * kYear);
}

// A small machine without a battery starts in 1970 and learns the time later.
TEST(GuardedClock, AClockThatWasNotSetMayCatchUp) {
  FakeClock machine(0);
  const GuardedClock clock(machine, kStart);
  EXPECT_EQ(clock.WallMicros(), 0);
  machine.SetWall(kStart);
  EXPECT_EQ(clock.WallMicros(), kStart);
  machine.SetWall(kStart + kYear);
  EXPECT_EQ(clock.WallMicros(), kStart);
}

}  // namespace
}  // namespace hearth
