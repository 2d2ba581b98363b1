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

  // Takes a token, possibly a future one, and returns when the caller may proceed. The token is
  // spent even if the caller does not wait.
  std::chrono::steady_clock::time_point Take() EXCLUDES_LOCK(mutex_);

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  const Clock& clock_;
  const std::chrono::nanoseconds interval_;                  // Between two tokens; 0: no limit.
  const std::chrono::nanoseconds burst_;                     // Time to refill all but one token.
  Mutex mutex_;                                              // Leaf lock.
  TimePoint full_at_ GUARDED_BY(mutex_) = TimePoint::min();  // When the bucket is full again.
};

}  // namespace hearth::kit
