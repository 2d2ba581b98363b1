#include "http/event_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace hearth::http {
namespace {

using namespace std::chrono_literals;

class EventLoopTest : public testing::Test {
 protected:
  void SetUp() override {
    thread_ = std::thread([this] { loop_->Run(); });
  }
  void TearDown() override {
    loop_->Stop();
    thread_.join();
  }
  // Waits until everything posted before has run.
  void Settle() {
    std::promise<void> reached;
    loop_->Post([&] { reached.set_value(); });
    reached.get_future().wait();
  }

  std::shared_ptr<EventLoop> loop_ = std::make_shared<EventLoop>();
  std::thread thread_;
};

TEST_F(EventLoopTest, KeepsTheOrderOfEachThread) {
  constexpr int kThreads = 4;
  constexpr int kTasks = 5'000;
  std::vector<std::vector<int>> seen(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kTasks; ++i) {
          loop_->Post([&, t, i] { seen[static_cast<size_t>(t)].push_back(i); });
        }
      });
    }
  }
  Settle();
  for (const std::vector<int>& one : seen) {
    ASSERT_EQ(one.size(), static_cast<size_t>(kTasks));
    for (int i = 0; i < kTasks; ++i) ASSERT_EQ(one[static_cast<size_t>(i)], i);
  }
}

TEST_F(EventLoopTest, KnowsItsThread) {
  EXPECT_FALSE(loop_->InLoop());
  std::promise<bool> inside;
  loop_->Post([&] { inside.set_value(loop_->InLoop()); });
  EXPECT_TRUE(inside.get_future().get());
}

struct CountingTask final : TurnEndTask {
  void RunAtTurnEnd() override { ++runs; }
  int runs = 0;
};

TEST_F(EventLoopTest, PostsOfOneBatchShareATurn) {
  const auto task = std::make_shared<CountingTask>();
  std::promise<void> blocked, go;
  loop_->Post([&] {
    blocked.set_value();
    go.get_future().wait();  // While this blocks the loop, the next ones queue up.
  });
  blocked.get_future().wait();
  int before_end = -1;
  loop_->Post([&] { loop_->AtTurnEnd(task); });
  loop_->Post([&] { before_end = task->runs; });
  go.set_value();
  Settle();
  EXPECT_EQ(before_end, 0);
  Settle();
  EXPECT_EQ(task->runs, 1);
}

TEST_F(EventLoopTest, TimersFireInOrderOfTimeUnlessDisarmed) {
  std::promise<std::vector<int>> done;
  std::vector<int> fired;
  Timer first(*loop_), second(*loop_), third(*loop_), never(*loop_);
  loop_->Post([&] {
    const TimePoint now = loop_->turn_start();
    third.Arm(now + 9ms, [&] {
      fired.push_back(3);
      done.set_value(fired);
    });
    never.Arm(now + 2ms, [&] { fired.push_back(0); });
    second.Arm(now + 5ms, [&] { fired.push_back(2); });
    first.Arm(now + 1ms, [&] {
      fired.push_back(1);
      never.Disarm();
    });
  });
  EXPECT_EQ(done.get_future().get(), (std::vector<int>{1, 2, 3}));
}

TEST_F(EventLoopTest, ArmingAgainReplaces) {
  std::promise<int> done;
  Timer timer(*loop_);
  loop_->Post([&] {
    timer.Arm(loop_->turn_start() + 1h, [&] { done.set_value(1); });
    timer.Arm(loop_->turn_start() + 1ms, [&] { done.set_value(2); });
  });
  EXPECT_EQ(done.get_future().get(), 2);
}

TEST_F(EventLoopTest, ATimerThatKeepsArmingItselfForThePastStopsNothing) {
  std::promise<void> done;
  Timer timer(*loop_);
  std::function<void()> again = [&] { timer.Arm(TimePoint(), again); };
  loop_->Post([&] { again(); });
  Settle();
  loop_->Post([&] {
    timer.Disarm();
    done.set_value();
  });
  done.get_future().wait();
}

TEST(EventLoopStopTest, DropsWhatComesLater) {
  const auto loop = std::make_shared<EventLoop>();
  const auto owned = std::make_shared<int>(1);
  loop->Stop();
  bool ran = false;
  loop->Post([&ran, owned] { ran = true; });
  loop->Run();
  EXPECT_FALSE(ran);
  EXPECT_EQ(owned.use_count(), 1);
}

}  // namespace
}  // namespace hearth::http
