#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "base/executor.h"
#include "base/mutex.h"

namespace hearth {

// Runs callbacks on the thread that waits for them, so that an answer costs one thread switch.
//
// Threads: Post from any thread; Await on one thread at a time. Ownership: must outlive the
// callbacks that are to run on it.
class WaitingExecutor final : public Executor {
 public:
  void Post(Task task) override EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.NotifyOne();  // Under the lock: the waiting thread may destroy this object afterwards.
  }

  // Runs posted tasks until `answer` is set, and moves it out.
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

// Calls `start` with an executor and a callback, and waits for the value passed to the callback.
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
