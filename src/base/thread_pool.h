#pragma once

#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "base/mutex.h"

namespace hearth {

// A fixed number of threads that run tasks which may block on the disk.
//
// Threads: safe for concurrent use. The destructor runs the queued tasks, then joins.
class ThreadPool final : public Executor {
 public:
  ThreadPool(size_t threads, size_t queued_tasks_max);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Accepts new work. Returns false and drops the task if `queued_tasks_max` tasks are queued
  // already.
  [[nodiscard]] bool TryPost(Task task) EXCLUDES_LOCK(mutex_);
  // Continues work that was accepted before. Not limited: TryPost already bounds the work.
  void Post(Task task) override EXCLUDES_LOCK(mutex_);

  // The number of tasks waiting for a thread.
  size_t queued_tasks() const EXCLUDES_LOCK(mutex_);

 private:
  void Run() EXCLUDES_LOCK(mutex_);

  const size_t queued_tasks_max_;
  mutable Mutex mutex_;  // Leaf lock: tasks run without it.
  CondVar changed_;
  std::deque<Task> tasks_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace hearth
