#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "base/executor.h"
#include "base/mutex.h"

namespace hearth {

// Runs callbacks on the thread that waits for them, so that an answer costs one switch of threads.
//
// Threads: Post from any; Await on one at a time. Ownership: must outlive the callbacks that it was
// given for.
class WaitingExecutor final : public Executor {
 public:
  void Post(Task task) override EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.NotifyOne();  // Under the lock: whoever waits may end this object afterwards.
  }

  // Runs what is posted until `answer` is there, and moves it out.
  template <typename T>
  T Await(std::optional<T>& answer) EXCLUDES_LOCK(mutex_) {
    while (!answer) TakeNext()();
    T taken = *std::move(answer);
    answer.reset();
    return taken;
  }

 private:
  Task TakeNext() EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    while (tasks_.empty()) changed_.Wait(mutex_);
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  Mutex mutex_;  // Leaf lock: tasks run without it.
  CondVar changed_;
  std::deque<Task> tasks_ GUARDED_BY(mutex_);
};

// Calls `start` with an executor and a callback, and waits for what the callback is told.
//
//   const Result<CommitResult> result = Await<Result<CommitResult>>(
//       [&](Executor& here, auto done) { engine.Commit(..., here, std::move(done)); });
template <typename T, typename Start>
T Await(const Start& start) {
  WaitingExecutor here;
  std::optional<T> answer;
  start(here, Callback<void(T)>([&answer](T told) { answer.emplace(std::move(told)); }));
  return here.Await(answer);
}

}  // namespace hearth
