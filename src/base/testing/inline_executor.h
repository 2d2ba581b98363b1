// For tests: callbacks at once, on the thread that has the answer.
#pragma once

#include <utility>

#include "base/executor.h"

namespace hearth {

// Unlike every other executor, it runs tasks inside Post: a test sees at once that an answer is
// there, and need not wait to see that there is none.
class InlineExecutor final : public Executor {
 public:
  static InlineExecutor& Get() {
    static InlineExecutor executor;
    return executor;
  }

  void Post(Task task) override { task(); }
};

}  // namespace hearth
