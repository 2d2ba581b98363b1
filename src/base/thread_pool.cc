#include "base/thread_pool.h"

#include <utility>

namespace hearth {

ThreadPool::ThreadPool(size_t threads, size_t queued_tasks_max)
    : queued_tasks_max_(queued_tasks_max) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

ThreadPool::~ThreadPool() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

bool ThreadPool::TryPost(Task task) {
  {
    MutexLock lock(mutex_);
    if (tasks_.size() >= queued_tasks_max_) return false;
    tasks_.push_back(std::move(task));
  }
  changed_.NotifyOne();
  return true;
}

void ThreadPool::Post(Task task) {
  {
    MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.NotifyOne();
}

size_t ThreadPool::queued_tasks() const {
  MutexLock lock(mutex_);
  return tasks_.size();
}

void ThreadPool::Run() {
  while (true) {
    Task task;
    {
      MutexLock lock(mutex_);
      while (tasks_.empty() && !stopping_) changed_.Wait(mutex_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace hearth
