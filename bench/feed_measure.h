// Time and memory measurements of the feed's benchmarks.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/check.h"

namespace hearth::feed {

// Writes to standard error, with the time since the first call.
inline void Progress(const std::string& text) {
  static const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "%6.1f s  %s\n", elapsed.count(), text.c_str());
}

inline double MillisecondsOf(const std::function<void()>& work) {
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

inline double PercentileOf(std::vector<double> values, double share) {
  CHECK(!values.empty());
  std::ranges::sort(values);
  const auto place = static_cast<size_t>(share * static_cast<double>(values.size()));
  return values[std::min(place, values.size() - 1)];
}

// Memory of this process, in MB: "VmRSS:" now, "VmHWM:" the peak since ResetPeak.
inline double MemoryMb(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == field && status >> kilobytes) return kilobytes / 1'000;
  }
  CHECK(false);
}

inline void ResetPeak() {
  malloc_trim(0);  // Memory freed earlier would hide what is used now.
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace hearth::feed
