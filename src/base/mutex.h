// A std::mutex that Clang's -Wthread-safety can check. With GCC the annotations expand to nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define HEARTH_TSA_(x) __attribute__((x))
#else
#define HEARTH_TSA_(x)
#endif
#define GUARDED_BY(m) HEARTH_TSA_(guarded_by(m))
#define REQUIRES_LOCK(m) HEARTH_TSA_(requires_capability(m))
#define EXCLUDES_LOCK(m) HEARTH_TSA_(locks_excluded(m))
#define ASSERTS_LOCK(m) HEARTH_TSA_(assert_capability(m))

namespace hearth {

class HEARTH_TSA_(capability("mutex")) Mutex {
 public:
  void lock() HEARTH_TSA_(acquire_capability()) { mutex_.lock(); }
  void unlock() HEARTH_TSA_(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class HEARTH_TSA_(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HEARTH_TSA_(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() HEARTH_TSA_(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Condition variable for Mutex. May wake spuriously: wait in a loop that checks the condition.
class CondVar {
 public:
  void Wait(Mutex& mutex) REQUIRES_LOCK(mutex) { condition_.wait(mutex); }
  void WaitFor(Mutex& mutex, std::chrono::milliseconds timeout) REQUIRES_LOCK(mutex) {
    condition_.wait_for(mutex, timeout);
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable_any condition_;
};

}  // namespace hearth
