#pragma once

#include "base/callback.h"

namespace hearth {

// Where callbacks run: an event loop, a pool of threads, a thread that waits.
//
// A function that may have to wait takes an executor and a callback. The callback runs there once,
// and never from inside the function: a caller need not be ready for its answer before the call
// has returned, nor ask on which thread it is.
//
// Threads: safe for concurrent use.
class Executor {
 public:
  virtual ~Executor() = default;

  // Runs `task` later. An executor that has ended destroys the task instead.
  virtual void Post(Task task) = 0;
};

}  // namespace hearth
