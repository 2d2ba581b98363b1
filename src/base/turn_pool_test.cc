#include "base/turn_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hearth {
namespace {

using testing::ElementsAre;

constexpr ClientKey kA{1};
constexpr ClientKey kB{2};

// Every task is long from its first pause.
TurnPoolOptions AllLong() {
  TurnPoolOptions options;
  options.short_cpu_max = std::chrono::microseconds(0);
  options.short_time_max = std::chrono::milliseconds(0);
  options.slice = std::chrono::milliseconds(0);
  return options;
}

// Occupies a thread until it is opened.
class Gate {
 public:
  // Call it on the thread.
  void Pass() {
    entered_.set_value();
    opened_.get_future().wait();
  }
  void AwaitEntered() { entered_.get_future().wait(); }
  void Open() { opened_.set_value(); }

 private:
  std::promise<void> entered_;
  std::promise<void> opened_;
};

// Runs until it is told to end, and pauses all the time.
class LongTask {
 public:
  Task Body(TurnPool& pool) {
    return [this, &pool] {
      Status status;
      while (status.ok() && !is_ended_) {
        status = pool.Pause(left_.get_token());
        ++pauses_;
        pauses_.notify_all();
      }
      result_.set_value(status);
    };
  }
  void AwaitMorePauses() {
    const uint64_t before = pauses_;
    while (pauses_ < before + 2) pauses_.wait(pauses_);
  }
  uint64_t pauses() const { return pauses_; }
  void End() { is_ended_ = true; }
  // The client leaves.
  void Leave() { left_.request_stop(); }
  Status Result() { return result_.get_future().get(); }

 private:
  std::stop_source left_;
  std::atomic<bool> is_ended_ = false;
  std::atomic<uint64_t> pauses_ = 0;
  std::promise<Status> result_;
};

TEST(TurnPoolTest, RunsEveryTaskBeforeItEnds) {
  std::atomic<int> ran = 0;
  {
    TurnPool pool(TurnPoolOptions{});
    for (int i = 0; i < 100; ++i) ASSERT_EQ(pool.TryPost(kA, [&] { ++ran; }), Status());
    for (int i = 0; i < 100; ++i) pool.Post([&] { ++ran; });
  }
  EXPECT_EQ(ran, 200);
}

TEST(TurnPoolTest, ClientsTakeTurns) {
  TurnPoolOptions options;
  options.threads = 1;
  std::string order;
  Gate gate;
  {
    TurnPool pool(options);
    pool.Post(kA, [&gate] { gate.Pass(); });
    gate.AwaitEntered();
    for (int i = 0; i < 4; ++i) pool.Post(kA, [&] { order += 'a'; });
    pool.Post(kB, [&] { order += 'b'; });
    gate.Open();
  }
  EXPECT_EQ(order, "abaaa");
}

TEST(TurnPoolTest, AContinuationBelongsToTheClientOfItsTask) {
  TurnPoolOptions options;
  options.threads = 1;
  std::string order;
  {
    TurnPool pool(options);
    Gate gate;
    pool.Post(kA, [&] {
      gate.Pass();
      pool.Post([&] { order += 'a'; });  // As client A, after those that A has queued before.
    });
    gate.AwaitEntered();
    pool.Post(kA, [&] { order += '1'; });
    pool.Post(kB, [&] { order += '2'; });
    gate.Open();
    std::promise<void> end;
    pool.Post(kB, [&] { end.set_value(); });
    end.get_future().wait();
  }
  EXPECT_EQ(order, "12a");
}

TEST(TurnPoolTest, AClientGetsItsShareOfTheQueue) {
  TurnPoolOptions options;
  options.threads = 1;
  options.queued_tasks_max = 32;
  Gate gate;
  TurnPool pool(options);
  pool.Post(kA, [&gate] { gate.Pass(); });
  gate.AwaitEntered();
  for (int i = 0; i < 16; ++i) EXPECT_EQ(pool.TryPost(kA, [] {}), Status());
  EXPECT_EQ(pool.TryPost(kA, [] {}).code(), Code::kResourceExhausted);
  EXPECT_EQ(pool.CheckRoom(kA).code(), Code::kResourceExhausted);
  EXPECT_EQ(pool.TryPost(kB, [] {}), Status());
  EXPECT_EQ(pool.TryPost(kB, [] {}), Status());
  EXPECT_EQ(pool.queued_tasks(), 18u);
  gate.Open();
}

TEST(TurnPoolTest, AClientWhoseTasksWaitTooLongGetsNoMoreAccepted) {
  TurnPoolOptions options;
  options.threads = 1;
  options.wait_max = std::chrono::milliseconds(-1);  // Every wait is too long.
  options.waiting_tasks_min = 2;
  Gate gate;
  TurnPool pool(options);
  pool.Post(kA, [&gate] { gate.Pass(); });
  gate.AwaitEntered();
  EXPECT_EQ(pool.TryPost(kA, [] {}), Status());
  EXPECT_EQ(pool.TryPost(kA, [] {}), Status());
  EXPECT_EQ(pool.TryPost(kA, [] {}).code(), Code::kResourceExhausted);
  EXPECT_EQ(pool.TryPost(kB, [] {}), Status());
  gate.Open();
}

TEST(TurnPoolTest, LongTasksLeaveTheThreadsToShortOnes) {
  TurnPoolOptions options = AllLong();
  options.threads = 1;
  TurnPool pool(options);
  std::vector<LongTask> tasks(8);
  for (LongTask& task : tasks) pool.Post(kA, task.Body(pool));
  tasks[7].AwaitMorePauses();
  EXPECT_EQ(pool.long_tasks(), 8u);
  std::promise<void> ran;
  pool.Post(kB, [&] { ran.set_value(); });
  ran.get_future().wait();
  for (LongTask& task : tasks) task.End();
  for (LongTask& task : tasks) EXPECT_EQ(task.Result(), Status());
}

TEST(TurnPoolTest, LongTasksTakeTurns) {
  TurnPoolOptions options = AllLong();
  options.long_threads = 1;
  TurnPool pool(options);
  std::vector<LongTask> tasks(5);
  for (LongTask& task : tasks) pool.Post(kA, task.Body(pool));
  for (int round = 0; round < 10; ++round) {
    for (LongTask& task : tasks) task.AwaitMorePauses();
  }
  for (LongTask& task : tasks) task.End();
  for (LongTask& task : tasks) EXPECT_EQ(task.Result(), Status());
}

TEST(TurnPoolTest, LongTasksAreBoundedAndSharedByClient) {
  TurnPoolOptions options = AllLong();
  options.long_tasks_max = 4;
  TurnPool pool(options);
  std::vector<LongTask> tasks(4);
  pool.Post(kA, tasks[0].Body(pool));
  tasks[0].AwaitMorePauses();
  pool.Post(kA, tasks[1].Body(pool));
  tasks[1].AwaitMorePauses();
  pool.Post(kA, tasks[2].Body(pool));
  EXPECT_EQ(tasks[2].Result().code(), Code::kResourceExhausted);
  pool.Post(kB, tasks[3].Body(pool));
  tasks[3].AwaitMorePauses();
  for (LongTask& task : tasks) task.End();
  for (const size_t i : {size_t{0}, size_t{1}, size_t{3}}) EXPECT_EQ(tasks[i].Result(), Status());
}

TEST(TurnPoolTest, CancelEndsTasksAtTheirNextPause) {
  TurnPool pool(AllLong());
  std::vector<LongTask> tasks(3);
  for (LongTask& task : tasks) pool.Post(kA, task.Body(pool));
  pool.Cancel();
  for (LongTask& task : tasks) EXPECT_EQ(task.Result().code(), Code::kUnavailable);
}

// The only turn is taken by a task that does not pause.
class WaitingForATurnTest : public testing::Test {
 protected:
  WaitingForATurnTest() {
    pool_.Post(kA, [this] {
      EXPECT_EQ(pool_.Pause(), Status());
      gate_.Pass();
    });
    gate_.AwaitEntered();
  }
  static TurnPoolOptions OneTurn() {
    TurnPoolOptions options = AllLong();
    options.long_threads = 1;
    return options;
  }
  // All but one of them wait.
  void AwaitLong(size_t count) {
    while (pool_.long_tasks() != count) std::this_thread::yield();
  }

  Gate gate_;
  LongTask waiting_, other_, last_;
  TurnPool pool_{OneTurn()};
};

TEST_F(WaitingForATurnTest, EndsAtOnceWhenTheClientLeaves) {
  pool_.Post(kB, waiting_.Body(pool_));
  AwaitLong(2);
  pool_.Post(kB, other_.Body(pool_));
  AwaitLong(3);
  waiting_.Leave();
  EXPECT_EQ(waiting_.Result().code(), Code::kCancelled);  // Though no turn came.
  EXPECT_EQ(waiting_.pauses(), 1u);
  AwaitLong(2);
  // The one that is left gets the turn, and there is one turn, as before.
  gate_.Open();
  other_.AwaitMorePauses();
  pool_.Post(kA, last_.Body(pool_));
  last_.AwaitMorePauses();
  other_.AwaitMorePauses();
  other_.End();
  last_.End();
  EXPECT_EQ(other_.Result(), Status());
  EXPECT_EQ(last_.Result(), Status());
}

TEST_F(WaitingForATurnTest, TheTurnStaysWithItsOwner) {
  for (int round = 0; round < 50; ++round) {
    LongTask task;
    pool_.Post(kB, task.Body(pool_));
    AwaitLong(2);
    task.Leave();
    EXPECT_EQ(task.Result().code(), Code::kCancelled);
    EXPECT_EQ(task.pauses(), 1u);  // It never got a turn.
    AwaitLong(1);
  }
  gate_.Open();
}

TEST_F(WaitingForATurnTest, DoesNotBeginWhenTheClientHasLeft) {
  waiting_.Leave();
  pool_.Post(kB, waiting_.Body(pool_));
  EXPECT_EQ(waiting_.Result().code(), Code::kCancelled);
  EXPECT_EQ(pool_.long_tasks(), 1u);
  gate_.Open();
}

// What the client has left behind may have to be cleaned up by more than a few instructions.
TEST_F(WaitingForATurnTest, WorkThatGoesOnAfterThatWaitsForATurn) {
  std::stop_source left;
  std::promise<Status> cancelled, went_on;
  pool_.Post(kB, [&] {
    cancelled.set_value(pool_.Pause(left.get_token()));
    went_on.set_value(pool_.Pause());
  });
  AwaitLong(2);
  left.request_stop();
  EXPECT_EQ(cancelled.get_future().get().code(), Code::kCancelled);
  gate_.Open();
  EXPECT_EQ(went_on.get_future().get(), Status());
}

// Clients leave at the moment when it is their turn.
TEST(TurnPoolTest, ClientsLeaveAtAnyTime) {
  TurnPoolOptions options = AllLong();
  options.long_threads = 2;
  TurnPool pool(options);
  LongTask other;
  pool.Post(kA, other.Body(pool));
  for (int round = 0; round < 50; ++round) {
    std::vector<LongTask> tasks(4);
    for (LongTask& task : tasks) pool.Post(kB, task.Body(pool));
    for (LongTask& task : tasks) task.AwaitMorePauses();
    for (LongTask& task : tasks) task.Leave();
    for (LongTask& task : tasks) EXPECT_EQ(task.Result().code(), Code::kCancelled);
  }
  while (pool.long_tasks() != 1) std::this_thread::yield();
  other.AwaitMorePauses();
  other.End();
  EXPECT_EQ(other.Result(), Status());
}

TEST(TurnPoolTest, ShortTasksStayShort) {
  TurnPoolOptions options;
  options.short_cpu_max = std::chrono::hours(1);
  options.short_time_max = std::chrono::hours(1);
  TurnPool pool(options);
  std::promise<Status> paused;
  pool.Post(kA, [&] { paused.set_value(pool.Pause()); });
  EXPECT_EQ(paused.get_future().get(), Status());
  EXPECT_EQ(pool.long_tasks(), 0u);
}

TEST(TurnPoolTest, KnowsItsOwnThreads) {
  TurnPool pool(AllLong());
  TurnPool other(AllLong());
  EXPECT_FALSE(pool.RunsHere());
  std::promise<std::pair<bool, bool>> ran;
  pool.Post(kA, [&] { ran.set_value({pool.RunsHere(), other.RunsHere()}); });
  EXPECT_EQ(ran.get_future().get(), std::pair(true, false));
}

TEST(TurnPoolTest, PauseElsewhereHasNoEffect) {
  TurnPool pool(AllLong());
  TurnPool other(AllLong());
  EXPECT_EQ(pool.Pause(), Status());
  std::promise<Status> paused;
  other.Post([&] { paused.set_value(pool.Pause()); });
  EXPECT_EQ(paused.get_future().get(), Status());
  EXPECT_EQ(pool.long_tasks() + other.long_tasks(), 0u);
}

}  // namespace
}  // namespace hearth
