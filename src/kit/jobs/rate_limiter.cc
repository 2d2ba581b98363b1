#include "kit/jobs/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace hearth::kit {
namespace {

std::chrono::nanoseconds IntervalOf(double per_second) {
  if (!(per_second > 0)) return std::chrono::nanoseconds(0);
  // Bounds absurdly small rates: at least one token per day.
  return std::chrono::nanoseconds(std::llround(std::min(1e9 / per_second, 86'400e9)));
}

}  // namespace

RateLimiter::RateLimiter(const Clock& clock, double per_second)
    : clock_(clock),
      interval_(IntervalOf(per_second)),
      burst_(std::max(std::chrono::nanoseconds(std::chrono::seconds(1)) - interval_,
                      std::chrono::nanoseconds(0))) {}

RateLimiter::TimePoint RateLimiter::Take() {
  const TimePoint now = clock_.Monotonic();
  if (interval_.count() == 0) return now;
  MutexLock lock(mutex_);
  full_at_ = std::max(full_at_, now);
  const TimePoint when = std::max(now, full_at_ - burst_);
  full_at_ += interval_;
  return when;
}

}  // namespace hearth::kit
