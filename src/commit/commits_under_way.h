#pragma once

#include <cstddef>

#include "base/mutex.h"

namespace hearth::commit {

// Bounds the commits that wait for locks or for the disk, and the memory they hold.
//
// Threads: safe for concurrent use.
class CommitsUnderWay {
 public:
  static constexpr size_t kCommitsMax = 20'000;
  static constexpr size_t kBytesMax = 256 * 1024 * 1024;

  // False, without any effect, if one more commit of `bytes` would exceed the bounds.
  [[nodiscard]] bool Begin(size_t bytes) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    if (commits_ >= kCommitsMax || bytes > kBytesMax - bytes_) return false;
    ++commits_;
    bytes_ += bytes;
    return true;
  }
  void End(size_t bytes) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    --commits_;
    bytes_ -= bytes;
  }

 private:
  Mutex mutex_;  // Leaf lock.
  size_t commits_ GUARDED_BY(mutex_) = 0;
  size_t bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hearth::commit
