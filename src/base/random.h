#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "base/mutex.h"

namespace hearth {

// From the operating system's generator: earlier bytes do not help to guess later ones.
std::string SecureRandomBytes(size_t size);

// A source of random numbers. They are as strong as SecureRandomBytes and may be used as secrets,
// unless the source was seeded.
//
// Threads: safe for concurrent use.
class RandomSource {
 public:
  RandomSource();
  // Repeatable, for tests. Later numbers can be predicted from earlier ones.
  explicit RandomSource(uint64_t seed);
  ~RandomSource();

  uint64_t Next() EXCLUDES_LOCK(mutex_);

 private:
  // As many bytes as the system always returns in one piece (getrandom(2)).
  static constexpr size_t kNumbersAtATime = 256 / sizeof(uint64_t);

  Mutex mutex_;  // Leaf lock.
  std::array<uint64_t, kNumbersAtATime> numbers_ GUARDED_BY(mutex_) = {};
  size_t used_ GUARDED_BY(mutex_) = kNumbersAtATime;
  const std::unique_ptr<std::mt19937_64> seeded_ GUARDED_BY(mutex_);  // Null without a seed.
};

}  // namespace hearth
