#include "base/clock.h"

namespace hearth {

int64_t SystemClock::WallMicros() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::chrono::steady_clock::time_point SystemClock::Monotonic() const {
  return std::chrono::steady_clock::now();
}

}  // namespace hearth
