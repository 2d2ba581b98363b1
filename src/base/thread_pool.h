#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace hearth {

// A fixed number of threads that run tasks which may block on the disk.
//
// Threads: safe for concurrent use. The destructor runs what is queued, then joins.
class ThreadPool {
 public:
  ThreadPool(size_t threads, size_t queued_tasks_max);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // False, and the task is not taken, when `queued_tasks_max` tasks wait already.
  [[nodiscard]] bool Submit(std::function<void()> task) EXCLUDES_LOCK(mutex_);

 private:
  void Run() EXCLUDES_LOCK(mutex_);

  const size_t queued_tasks_max_;
  Mutex mutex_;  // Leaf lock: tasks run without it.
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace hearth
