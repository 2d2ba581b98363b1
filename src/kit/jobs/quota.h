#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"

namespace hearth::kit {

// A number of uses per window for each key, such as sign-in attempts by address. A window begins
// with the first use of a key and lasts `window`.
// || At most `keys_max` keys are kept. Beyond that, keys whose windows have ended are dropped. If
// there are none, new keys are refused.
//
// Threads: safe for concurrent use.
class QuotaWindows {
 public:
  QuotaWindows(const Clock& clock, size_t limit, std::chrono::milliseconds window, size_t keys_max);

  struct Outcome {
    bool allowed;
    size_t remaining;
    std::chrono::milliseconds until_reset;  // Rounded up.
  };
  // Spends one use, if any is left.
  Outcome Spend(const std::string& key) EXCLUDES_LOCK(mutex_);
  // Starts a new window for the key, for instance after a success.
  void Reset(const std::string& key) EXCLUDES_LOCK(mutex_);

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Window {
    TimePoint end;
    size_t used;
  };

  void ForgetEndedLocked(TimePoint now) REQUIRES_LOCK(mutex_);
  static std::chrono::milliseconds Until(TimePoint end, TimePoint now);

  const Clock& clock_;
  const size_t limit_;
  const std::chrono::milliseconds window_;
  const size_t keys_max_;
  Mutex mutex_;  // Leaf lock.
  std::unordered_map<std::string, Window> windows_ GUARDED_BY(mutex_);
  // No window ends before this; a full table is not searched until then.
  TimePoint first_end_ GUARDED_BY(mutex_) = TimePoint::max();
};

}  // namespace hearth::kit
