#include "base/guarded_clock.h"

#include <algorithm>

#include "base/log.h"

namespace hearth {

using std::chrono::microseconds;

GuardedClock::GuardedClock(const Clock& clock, int64_t plausible_micros) : clock_(clock) {
  const Reading now = Read();
  offset_ = std::max(now.offset(), plausible_micros - kLeapMax.count() - now.monotonic_micros);
}

GuardedClock::Reading GuardedClock::Read() const {
  return {clock_.WallMicros(),
          std::chrono::duration_cast<microseconds>(clock_.Monotonic().time_since_epoch()).count()};
}

int64_t GuardedClock::WallMicros() const {
  const Reading now = Read();
  int64_t highest = offset_.load(std::memory_order_relaxed);
  if (now.offset() - highest > kLeapMax.count()) {
    if (!has_leapt_.exchange(true)) {
      Log(LogLevel::kError,
          "the machine's clock leapt ahead and is not followed; if it is right, restart hearth",
          {{"seconds", (now.offset() - highest) / 1'000'000}});
    }
    return now.monotonic_micros + highest;
  }
  if (has_leapt_.load(std::memory_order_relaxed) && has_leapt_.exchange(false)) {
    Log(LogLevel::kInfo, "the machine's clock is back and is followed again");
  }
  while (highest < now.offset() && !offset_.compare_exchange_weak(highest, now.offset())) {
  }
  return now.wall_micros;
}

microseconds GuardedClock::ignored_leap() const {
  const microseconds ahead(Read().offset() - offset_.load());
  return ahead > kLeapMax ? ahead : microseconds(0);
}

}  // namespace hearth
