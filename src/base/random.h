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

// Where randomness comes from. Numbers are as good as SecureRandomBytes and may be secrets, unless
// there is a seed.
//
// Threads: safe for concurrent use.
class RandomSource {
 public:
  RandomSource();
  // Repeatable, for tests. Its numbers can be predicted from earlier ones.
  explicit RandomSource(uint64_t seed);
  ~RandomSource();

  uint64_t Next() EXCLUDES_LOCK(mutex_);

 private:
  // As much as the system always gives in one piece (getrandom(2)).
  static constexpr size_t kNumbersAtATime = 256 / sizeof(uint64_t);

  Mutex mutex_;  // Leaf lock.
  std::array<uint64_t, kNumbersAtATime> numbers_ GUARDED_BY(mutex_) = {};
  size_t used_ GUARDED_BY(mutex_) = kNumbersAtATime;
  const std::unique_ptr<std::mt19937_64> seeded_ GUARDED_BY(mutex_);  // Null without a seed.
};

}  // namespace hearth
