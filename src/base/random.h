#pragma once

#include <cstdint>
#include <random>

#include "base/mutex.h"

namespace hearth {

// Where randomness comes from. Threads: safe for concurrent use.
class RandomSource {
 public:
  // Seeded by the operating system.
  RandomSource() : engine_(std::random_device{}()) {}
  // Repeatable, for tests.
  explicit RandomSource(uint64_t seed) : engine_(seed) {}

  uint64_t Next() EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return engine_();
  }

 private:
  Mutex mutex_;  // Leaf lock.
  std::mt19937_64 engine_ GUARDED_BY(mutex_);
};

}  // namespace hearth
