#include "expiry/sweep_pace.h"

#include <gtest/gtest.h>

#include "base/testing/fake_clock.h"

namespace hearth::expiry {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A sweep over a backlog, next to clients.
class SweepPaceTest : public testing::Test {
 protected:
  // One step of the sweep, while clients make `client_commits`; returns the pause after it.
  microseconds Step(uint64_t client_commits, microseconds worked = milliseconds(10)) {
    pace_.BeginStep();
    const uint64_t own = pace_.step_max();
    clock_.Advance(worked);
    commits_ += own + client_commits;
    return pace_.EndStep(own);
  }

  FakeClock clock_{1'000'000};
  uint64_t commits_ = 7;
  SweepPace pace_{clock_, [this] { return commits_; }};
};

TEST_F(SweepPaceTest, WhileClientsCommitTheSweepKeepsToItsShare) {
  microseconds worked{0};
  microseconds total{0};
  for (int step = 0; step < 1'000; ++step) {
    const microseconds took(1'000 + step * 7'919 % 50'000);
    const microseconds pause = Step(1, took);
    clock_.Advance(pause);
    EXPECT_EQ(pace_.step_max(), SweepPace::kBusyStepMax);
    worked += took;
    total += took + pause;
  }
  EXPECT_LE(worked * SweepPace::kBusyParts, total);
}

TEST_F(SweepPaceTest, WithoutClientsTheSweepDoesNotPause) {
  for (int step = 0; step < 10; ++step) {
    EXPECT_EQ(Step(0), microseconds(0));
    EXPECT_EQ(pace_.step_max(), SweepPace::kIdleStepMax);
  }
}

TEST_F(SweepPaceTest, NoticesWhenClientsBeginAndEnd) {
  EXPECT_EQ(Step(0), microseconds(0));
  EXPECT_EQ(Step(1), milliseconds(190));
  EXPECT_EQ(Step(0), microseconds(0));
  // Commits during the pause count for the step after it.
  EXPECT_GT(Step(5), microseconds(0));
  commits_ += 3;
  EXPECT_GT(Step(0), microseconds(0));
}

// The backlog is worked off even if every step is slow.
TEST_F(SweepPaceTest, APauseIsBounded) {
  EXPECT_EQ(Step(1, std::chrono::minutes(1)), SweepPace::kPauseMax);
}

// A disk that takes 5 ms for each document.
TEST_F(SweepPaceTest, OnASlowDiskStepsAreSmaller) {
  microseconds worked{0};
  microseconds total{0};
  for (int step = 0; step < 1'000; ++step) {
    const microseconds took = milliseconds(5) * pace_.step_max();
    const microseconds pause = Step(1, took);
    clock_.Advance(pause);
    if (step < 10) continue;  // Until it has adapted.
    worked += took;
    total += took + pause;
  }
  EXPECT_LE(worked * SweepPace::kBusyParts, total);
  EXPECT_LT(pace_.step_max(), SweepPace::kBusyStepMax);
  for (int step = 0; step < 10; ++step) Step(1, milliseconds(1));
  EXPECT_EQ(pace_.step_max(), SweepPace::kBusyStepMax);
}

TEST_F(SweepPaceTest, AStepHasAtLeastOneDocument) {
  for (int step = 0; step < 20; ++step) Step(1, std::chrono::minutes(1));
  EXPECT_EQ(pace_.step_max(), 1u);
}

}  // namespace
}  // namespace hearth::expiry
