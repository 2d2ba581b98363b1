// For tests.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

namespace hearth {

// A new seed for every run, printed; HEARTH_SEED repeats a run.
inline uint64_t TestSeed() {
  const char* wanted = std::getenv("HEARTH_SEED");
  const uint64_t seed = wanted ? std::strtoull(wanted, nullptr, 10) : std::random_device()();
  std::cout << "HEARTH_SEED=" << seed << std::endl;
  return seed;
}

// Small random choices. Threads: one at a time.
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}

  size_t Below(size_t bound) { return engine_() % bound; }
  bool OneIn(size_t chances) { return Below(chances) == 0; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace hearth
