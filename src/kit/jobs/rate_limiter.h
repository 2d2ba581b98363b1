#pragma once

#include <chrono>

#include "base/clock.h"
#include "base/mutex.h"

namespace hearth::kit {

// A token bucket that holds one second's worth, at least one.
//
// Threads: safe for concurrent use. Ownership: borrows the clock.
class RateLimiter {
 public:
  // `per_second` of 0 or less: no limit.
  RateLimiter(const Clock& clock, double per_second);

  // Takes a token, perhaps one that is yet to come, and says by the clock when the caller may go.
  // It is spent even if the caller does not wait for it.
  std::chrono::steady_clock::time_point Take() EXCLUDES_LOCK(mutex_);

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  const Clock& clock_;
  const std::chrono::nanoseconds interval_;  // Between two tokens; 0: no limit.
  const std::chrono::nanoseconds burst_;     // How long it takes to fill all but one.
  Mutex mutex_;                              // Leaf lock.
  TimePoint full_at_ GUARDED_BY(mutex_) = TimePoint::min();  // When the bucket is full again.
};

}  // namespace hearth::kit
