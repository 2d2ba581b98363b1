#include "kit/jobs/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "base/testing/fake_clock.h"

namespace hearth::kit {
namespace {

using std::chrono::minutes;

Schedule Every(const char* cron) { return *Schedule::Parse(cron, "UTC"); }

// A job that blocks until it is released.
class Barrier {
 public:
  Status Pass(const std::atomic<bool>& stopping) {
    MutexLock lock(mutex_);
    ++arrived_;
    changed_.NotifyAll();
    while (allowed_ < arrived_ && !stopping) {
      changed_.WaitFor(mutex_, std::chrono::milliseconds(5));
    }
    return Status();
  }
  void Allow(size_t count) {
    MutexLock lock(mutex_);
    allowed_ += count;
    changed_.NotifyAll();
  }
  void AwaitArrivals(size_t count) {
    MutexLock lock(mutex_);
    while (arrived_ < count) changed_.Wait(mutex_);
  }
  size_t arrived() {
    MutexLock lock(mutex_);
    return arrived_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  size_t arrived_ GUARDED_BY(mutex_) = 0;
  size_t allowed_ GUARDED_BY(mutex_) = 0;
};

class SchedulerTest : public testing::Test {
 protected:
  Scheduler::Job Counting(std::atomic<size_t>& count) {
    return [&count](const std::atomic<bool>&) {
      ++count;
      return Status();
    };
  }

  FakeClock clock_{1'790'000'040'000'000};  // 2026-09-21 14:14:00.
};

TEST_F(SchedulerTest, RunsWhatIsDueAndNothingElse) {
  std::atomic<size_t> often = 0;
  std::atomic<size_t> seldom = 0;
  Scheduler scheduler(clock_);
  scheduler.Add("often", Every("*/5 * * * *"), Counting(often));
  scheduler.Add("seldom", Every("0 * * * *"), Counting(seldom));
  scheduler.RunDue();
  EXPECT_EQ(often, 0u);
  clock_.Advance(minutes(1));
  scheduler.RunDue();
  scheduler.RunDue();
  EXPECT_EQ(often, 1u);
  EXPECT_EQ(seldom, 0u);
  clock_.Advance(minutes(45));
  scheduler.RunDue();
  EXPECT_EQ(often, 2u);  // Nine missed times lead to one run.
  EXPECT_EQ(seldom, 1u);
}

TEST_F(SchedulerTest, StartedItRunsByItself) {
  Barrier barrier;
  Scheduler scheduler(clock_);
  scheduler.Add("job", Every("*/5 * * * *"),
                [&](const std::atomic<bool>& stopping) { return barrier.Pass(stopping); });
  // Missed before the start: skipped. The next time is five milliseconds away.
  clock_.Advance(minutes(61) - std::chrono::milliseconds(5));
  scheduler.Start();
  EXPECT_EQ(scheduler.Statuses()[0].next_start_micros, clock_.WallMicros() + 5'000);
  clock_.Advance(std::chrono::milliseconds(5));
  barrier.AwaitArrivals(1);
  EXPECT_EQ(scheduler.Statuses()[0].next_start_micros, clock_.WallMicros() + 300'000'000);
  barrier.Allow(1);
}

TEST_F(SchedulerTest, RunNowRunsAndReturnsTheResult) {
  Scheduler scheduler(clock_);
  Status answer;
  scheduler.Add("job", Every("0 0 * * *"), [&answer](const std::atomic<bool>&) { return answer; });
  scheduler.Start();
  EXPECT_TRUE(scheduler.RunNow("job").ok());
  answer = Status(Code::kUnavailable, "down");
  EXPECT_EQ(scheduler.RunNow("job"), answer);
  EXPECT_EQ(scheduler.RunNow("nobody").code(), Code::kNotFound);
  const Scheduler::JobStatus status = scheduler.Statuses()[0];
  EXPECT_EQ(status.name, "job");
  EXPECT_EQ(status.runs, 2u);
  EXPECT_FALSE(status.is_running);
  EXPECT_EQ(status.last_result, answer);
  EXPECT_EQ(status.last_start_micros, clock_.WallMicros());
  EXPECT_EQ(status.last_end_micros, clock_.WallMicros());
}

TEST_F(SchedulerTest, AJobThatThrowsFailsAndGoesOn) {
  Scheduler scheduler(clock_);
  bool throws = true;
  scheduler.Add("job", Every("0 0 * * *"), [&throws](const std::atomic<bool>&) -> Status {
    if (throws) throw std::runtime_error("broken");
    return Status();
  });
  EXPECT_EQ(scheduler.RunNow("job").code(), Code::kInternal);
  throws = false;
  EXPECT_TRUE(scheduler.RunNow("job").ok());
}

TEST_F(SchedulerTest, NeverRunsTwiceAtATimeAndGathersWhatIsAskedForMeanwhile) {
  Barrier barrier;
  Scheduler scheduler(clock_);
  scheduler.Add("job", Every("*/5 * * * *"),
                [&](const std::atomic<bool>& stopping) { return barrier.Pass(stopping); });
  std::thread first([&] { EXPECT_TRUE(scheduler.RunNow("job").ok()); });
  barrier.AwaitArrivals(1);
  EXPECT_TRUE(scheduler.Statuses()[0].is_running);
  std::vector<std::thread> others;
  std::atomic<size_t> asking = 0;
  for (int i = 0; i < 10; ++i) {
    others.emplace_back([&] {
      ++asking;
      EXPECT_TRUE(scheduler.RunNow("job").ok());
    });
  }
  while (asking < 10) std::this_thread::yield();
  EXPECT_EQ(barrier.arrived(), 1u);
  barrier.Allow(1'000);
  first.join();
  for (std::thread& thread : others) thread.join();
  EXPECT_GE(barrier.arrived(), 2u);
  EXPECT_LE(barrier.arrived(), 11u);
}

TEST_F(SchedulerTest, WhatComesDueWhileItRunsRunsOnceMore) {
  Barrier barrier;
  Scheduler scheduler(clock_);
  scheduler.Add("job", Every("*/5 * * * *"),
                [&](const std::atomic<bool>& stopping) { return barrier.Pass(stopping); });
  std::thread first([&] { EXPECT_TRUE(scheduler.RunNow("job").ok()); });
  barrier.AwaitArrivals(1);
  clock_.Advance(minutes(20));
  barrier.Allow(2);
  scheduler.RunDue();
  first.join();
  EXPECT_EQ(barrier.arrived(), 2u);
  scheduler.RunDue();
  EXPECT_EQ(barrier.arrived(), 2u);
}

TEST_F(SchedulerTest, DifferentJobsRunBesideOneAnother) {
  Barrier barrier;
  const auto pass = [&](const std::atomic<bool>& stopping) { return barrier.Pass(stopping); };
  Scheduler scheduler(clock_);
  scheduler.Add("a", Every("*/5 * * * *"), pass);
  scheduler.Add("b", Every("*/5 * * * *"), pass);
  clock_.Advance(minutes(5));
  std::thread due([&] { scheduler.RunDue(); });
  barrier.AwaitArrivals(2);
  barrier.Allow(2);
  due.join();
}

TEST_F(SchedulerTest, StopEndsWhatRunsAndThoseWhoWait) {
  Barrier barrier;
  Scheduler scheduler(clock_);
  scheduler.Add("job", Every("*/5 * * * *"),
                [&](const std::atomic<bool>& stopping) { return barrier.Pass(stopping); });
  std::thread first([&] { IgnoreError(scheduler.RunNow("job"), "either may come first"); });
  barrier.AwaitArrivals(1);
  std::thread second([&] { EXPECT_EQ(scheduler.RunNow("job").code(), Code::kCancelled); });
  std::thread other_stop([&] { scheduler.Stop(); });
  scheduler.Stop();
  first.join();
  second.join();
  other_stop.join();
  EXPECT_EQ(scheduler.RunNow("job").code(), Code::kCancelled);
  scheduler.RunDue();
  EXPECT_EQ(barrier.arrived(), 1u);
}

TEST_F(SchedulerTest, AClockThatIsSetBackMakesTimesComeAgain) {
  std::atomic<size_t> count = 0;
  Scheduler scheduler(clock_);
  scheduler.Add("job", Every("0 * * * *"), Counting(count));
  clock_.Advance(minutes(60));
  scheduler.RunDue();
  EXPECT_EQ(count, 1u);
  clock_.SetWall(clock_.WallMicros() - int64_t{86'400} * 1'000'000);
  scheduler.RunDue();
  EXPECT_EQ(count, 1u);
  clock_.Advance(minutes(60));
  scheduler.RunDue();
  EXPECT_EQ(count, 2u);
}

TEST_F(SchedulerTest, AClockThatIsOnlyCorrectedDoesNot) {
  std::atomic<size_t> count = 0;
  Scheduler scheduler(clock_);
  scheduler.Add("job", Every("* * * * *"), Counting(count));
  clock_.Advance(minutes(1));
  scheduler.RunDue();
  clock_.SetWall(clock_.WallMicros() - 30'000'000);
  scheduler.RunDue();
  clock_.SetWall(clock_.WallMicros() + 30'000'000);
  scheduler.RunDue();
  EXPECT_EQ(count, 1u);
}

}  // namespace
}  // namespace hearth::kit
