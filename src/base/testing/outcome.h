// For tests: waits for answers that arrive through callbacks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"

namespace hearth {

// The answer passed to a callback, on whatever thread it ran. Copies share the answer.
template <typename T>
class Outcome {
 public:
  // The callback to pass to the function under test. It must run exactly once.
  std::function<void(T)> Callback() const {
    return [state = state_](T answer) {
      MutexLock lock(state->mutex);
      CHECK(!state->answer && !state->was_taken);
      state->answer = std::move(answer);
      state->answered.NotifyAll();
    };
  }

  bool IsThere() const {
    MutexLock lock(state_->mutex);
    return state_->answer.has_value();
  }

  // Waits for the answer and moves it out.
  T Take() const {
    MutexLock lock(state_->mutex);
    CHECK(!state_->was_taken);
    while (!state_->answer) state_->answered.Wait(state_->mutex);
    state_->was_taken = true;
    T answer = *std::move(state_->answer);
    state_->answer.reset();
    return answer;
  }

 private:
  struct State {
    Mutex mutex;
    CondVar answered;
    std::optional<T> answer GUARDED_BY(mutex);
    bool was_taken GUARDED_BY(mutex) = false;
  };

  // Shared with the callback, which may outlive this.
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace hearth
