#pragma once

#include <cstddef>

#include "base/mutex.h"

namespace hearth {

// Blocks threads until the test lets them pass. Threads: safe for concurrent use.
class Gate {
 public:
  void Open() {
    MutexLock lock(mutex_);
    is_open_ = true;
    changed_.NotifyAll();
  }
  void Close() {
    MutexLock lock(mutex_);
    is_open_ = false;
  }
  void Pass() {
    MutexLock lock(mutex_);
    ++arrived_;
    changed_.NotifyAll();
    while (!is_open_) changed_.Wait(mutex_);
  }
  // Waits until `count` threads in total have arrived.
  void AwaitArrivals(size_t count) {
    MutexLock lock(mutex_);
    while (arrived_ < count) changed_.Wait(mutex_);
  }
  size_t arrivals() {
    MutexLock lock(mutex_);
    return arrived_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool is_open_ GUARDED_BY(mutex_) = true;
  size_t arrived_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hearth
