#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace hearth {
namespace {

TEST(ThreadPool, RunsEveryTaskBeforeItEnds) {
  std::atomic<int> ran = 0;
  {
    ThreadPool pool(2, 1000);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(pool.TryPost([&] { ++ran; }));
  }
  EXPECT_EQ(ran, 100);
}

TEST(ThreadPool, RefusesBeyondItsBound) {
  std::promise<void> release;
  std::promise<void> started;
  std::shared_future<void> released = release.get_future().share();
  ThreadPool pool(1, 2);
  ASSERT_TRUE(pool.TryPost([&] {
    started.set_value();
    released.wait();
  }));
  started.get_future().wait();  // The only thread is busy now.
  EXPECT_TRUE(pool.TryPost([] {}));
  EXPECT_TRUE(pool.TryPost([] {}));
  EXPECT_EQ(pool.queued_tasks(), 2u);
  EXPECT_FALSE(pool.TryPost([] {}));
  EXPECT_EQ(pool.queued_tasks(), 2u);
  release.set_value();
}

}  // namespace
}  // namespace hearth
