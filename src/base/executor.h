#pragma once

#include "base/callback.h"

namespace hearth {

// Where callbacks run: an event loop, a thread pool, or a waiting thread.
//
// A function that may have to wait takes an executor and a callback. The callback runs on that
// executor, once, and never from inside the function. So a caller never sees its answer before the
// call has returned, and need not care which thread it is on.
//
// Threads: safe for concurrent use.
class Executor {
 public:
  virtual ~Executor() = default;

  // Runs `task` later. An executor that has shut down destroys the task instead.
  virtual void Post(Task task) = 0;
};

}  // namespace hearth
