// For tests: runs callbacks at once, on the thread that has the answer.
#pragma once

#include <utility>

#include "base/executor.h"

namespace hearth {

// Unlike every other executor, it runs tasks inside Post. A test sees an answer at once, and need
// not wait to find that there is no answer.
class InlineExecutor final : public Executor {
 public:
  static InlineExecutor& Get() {
    static InlineExecutor executor;
    return executor;
  }

  void Post(Task task) override { task(); }
};

}  // namespace hearth
