#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace hearth::client {

// What a callback will be told, on whatever thread it runs, for somebody who waits for it.
//
// Threads: Callback's function runs once, on any; Take is called once, on another or the same one.
template <typename T>
class Answer {
 public:
  std::function<void(T)> Callback() const {
    return [state = state_](T answer) {
      MutexLock lock(state->mutex);
      state->answer.emplace(std::move(answer));
      state->answered.NotifyAll();
    };
  }

  // Waits for the answer and moves it out.
  T Take() const {
    MutexLock lock(state_->mutex);
    while (!state_->answer) state_->answered.Wait(state_->mutex);
    return *std::move(state_->answer);
  }

 private:
  struct State {
    Mutex mutex;  // Leaf lock.
    CondVar answered;
    std::optional<T> answer GUARDED_BY(mutex);
  };

  // Shared with the callback, which may still be at work when Take has returned.
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace hearth::client
