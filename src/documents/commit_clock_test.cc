#include "documents/commit_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/testing/fake_clock.h"
#include "base/testing/test_time.h"
#include "model/testing/printers.h"

namespace hearth::documents {
namespace {

using namespace std::chrono_literals;
using model::Timestamp;

Timestamp At(int64_t after_start) { return Timestamp::FromMicros(kTestStartMicros + after_start); }

class CommitClockTest : public testing::Test {
 protected:
  FakeClock clock_{kTestStartMicros};
  CommitClock commit_clock_{clock_, Timestamp::FromMicros(5)};
};

TEST_F(CommitClockTest, CommitTimesStrictlyIncrease) {
  EXPECT_EQ(commit_clock_.Assign(), At(0));
  EXPECT_EQ(commit_clock_.Assign(), At(1));
  clock_.Advance(10us);
  EXPECT_EQ(commit_clock_.Assign(), At(10));
  clock_.SetWall(kTestStartMicros - 3'600'000'000);
  EXPECT_EQ(commit_clock_.Assign(), At(11));
}

TEST_F(CommitClockTest, GoesOnAfterTheNewestCommitOnDisk) {
  CommitClock restarted(clock_, At(3'600'000'000));  // The wall clock was set back an hour.
  EXPECT_EQ(restarted.Newest(), At(3'600'000'000));
  EXPECT_EQ(restarted.ReadTime(), At(3'600'000'000));
  EXPECT_EQ(restarted.Assign(), At(3'600'000'001));
}

TEST_F(CommitClockTest, AReadBesideTheFirstCommitOfAllHasATime) {
  CommitClock fresh(clock_, Timestamp());
  const Timestamp first = fresh.Assign();
  EXPECT_EQ(first.micros(), kTestStartMicros);
  const Timestamp read_time = fresh.ReadTime();
  EXPECT_GT(read_time, Timestamp());
  EXPECT_LT(read_time, first);
}

TEST_F(CommitClockTest, ReadTimesAreThePresent) {
  EXPECT_EQ(commit_clock_.ReadTime(), At(0));
  clock_.Advance(7us);
  EXPECT_EQ(commit_clock_.ReadTime(), At(7));
  clock_.SetWall(kTestStartMicros);
  EXPECT_EQ(commit_clock_.ReadTime(), At(7));  // Never goes back.
}

TEST_F(CommitClockTest, NoCommitAtOrBelowAReadTime) {
  const Timestamp read_time = commit_clock_.ReadTime();
  EXPECT_GT(commit_clock_.Assign(), read_time);
}

TEST_F(CommitClockTest, ReadTimesClaimNothingThatIsUnderWay) {
  const Timestamp before = commit_clock_.ReadTime();
  const Timestamp first = commit_clock_.Assign();
  clock_.Advance(1s);
  EXPECT_EQ(commit_clock_.ReadTime(), before);
  commit_clock_.Assign();
  EXPECT_EQ(commit_clock_.ReadTime(), before);
  commit_clock_.Publish();
  EXPECT_GE(commit_clock_.ReadTime(), first);
  EXPECT_EQ(commit_clock_.ReadTime(), At(1'000'000));
}

TEST_F(CommitClockTest, CommitsAreVisibleOncePublished) {
  const Timestamp commit = commit_clock_.Assign();
  EXPECT_FALSE(commit_clock_.IsVisible(commit));
  commit_clock_.Publish();
  EXPECT_TRUE(commit_clock_.IsVisible(commit));
  EXPECT_FALSE(commit_clock_.IsVisible(At(1)));
}

TEST_F(CommitClockTest, PublishingNothingDoesNoHarm) {
  commit_clock_.Publish();
  EXPECT_EQ(commit_clock_.ReadTime(), At(0));
}

TEST_F(CommitClockTest, ThePastIsSettled) {
  const Timestamp commit = commit_clock_.Assign();
  commit_clock_.Publish();
  EXPECT_TRUE(commit_clock_.TrySettle(commit));
  EXPECT_TRUE(commit_clock_.TrySettle(At(-1'000)));
  commit_clock_.Assign();
  EXPECT_TRUE(commit_clock_.TrySettle(commit));  // Even while others are in progress.
}

TEST_F(CommitClockTest, SettlingKeepsLaterCommitsOut) {
  EXPECT_TRUE(commit_clock_.TrySettle(At(100)));  // Ahead of the wall clock.
  EXPECT_EQ(commit_clock_.Assign(), At(101));
}

TEST_F(CommitClockTest, WhatIsUnderWayIsNotSettled) {
  const Timestamp commit = commit_clock_.Assign();
  EXPECT_FALSE(commit_clock_.TrySettle(commit));
  EXPECT_FALSE(commit_clock_.TrySettle(At(500)));
  EXPECT_TRUE(commit_clock_.TrySettle(Timestamp::FromMicros(5)));
  commit_clock_.Publish();
  EXPECT_TRUE(commit_clock_.TrySettle(At(500)));
}

TEST_F(CommitClockTest, WaitsUntilSettled) {
  const Timestamp commit = commit_clock_.Assign();
  std::thread waiter([&] { commit_clock_.WaitUntilSettled(commit); });
  std::thread later([&] { commit_clock_.WaitUntilSettled(At(500)); });
  commit_clock_.Publish();
  waiter.join();
  later.join();
  EXPECT_GT(commit_clock_.Assign(), At(500));
}

TEST_F(CommitClockTest, KnowsTheNewest) {
  EXPECT_EQ(commit_clock_.Newest(), At(-1));
  EXPECT_TRUE(commit_clock_.IsNewest(Timestamp::FromMicros(5)));
  EXPECT_FALSE(commit_clock_.IsNewest(Timestamp::FromMicros(4)));
  const Timestamp commit = commit_clock_.Assign();
  EXPECT_FALSE(commit_clock_.IsNewest(At(-1)));
  EXPECT_TRUE(commit_clock_.IsNewest(commit));
  EXPECT_EQ(commit_clock_.Newest(), commit);
  commit_clock_.Publish();
  clock_.Advance(9us);
  EXPECT_EQ(commit_clock_.ReadTime(), At(9));
  EXPECT_EQ(commit_clock_.Newest(), At(9));
  EXPECT_TRUE(commit_clock_.IsNewest(commit));  // A read is not a commit.
}

}  // namespace
}  // namespace hearth::documents
