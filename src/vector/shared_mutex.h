#pragma once

#include <shared_mutex>

#include "base/mutex.h"

#define REQUIRES_SHARED_LOCK(m) HEARTH_TSA_(requires_shared_capability(m))

namespace hearth::vector {

// A lock held by many readers or one writer. A writer gets it even if new readers keep coming:
// plain std::shared_mutex may let readers overtake a waiting writer forever.
//
// Threads: safe for concurrent use. Ownership: none. Errors: none.
class HEARTH_TSA_(capability("mutex")) SharedMutex {
 public:
  void lock() HEARTH_TSA_(acquire_capability()) {
    const std::lock_guard turn(turn_);
    mutex_.lock();
  }
  void unlock() HEARTH_TSA_(release_capability()) { mutex_.unlock(); }
  void lock_shared() HEARTH_TSA_(acquire_shared_capability()) {
    const std::lock_guard turn(turn_);
    mutex_.lock_shared();
  }
  void unlock_shared() HEARTH_TSA_(release_shared_capability()) { mutex_.unlock_shared(); }

 private:
  std::mutex turn_;  // Held while waiting for `mutex_`, so that all wait in line.
  std::shared_mutex mutex_;
};

class HEARTH_TSA_(scoped_lockable) WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) HEARTH_TSA_(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~WriterLock() HEARTH_TSA_(release_capability()) { mutex_.unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class HEARTH_TSA_(scoped_lockable) ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) HEARTH_TSA_(acquire_shared_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~ReaderLock() HEARTH_TSA_(release_capability()) { mutex_.unlock_shared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace hearth::vector
