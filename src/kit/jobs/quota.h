#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"

namespace hearth::kit {

// So many a window for each key: sign-in attempts by address, say. Windows begin with the first
// use of a key and last `window`.
//
// At most `keys_max` keys are remembered; when there are more, those whose windows have ended are
// forgotten, and if none has, new keys are refused.
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
  // Spends one, if there is one left.
  Outcome Spend(const std::string& key) EXCLUDES_LOCK(mutex_);
  // Gives the key a new window: after a success, say.
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
  // No window ends before; a full table is not searched until then.
  TimePoint first_end_ GUARDED_BY(mutex_) = TimePoint::max();
};

}  // namespace hearth::kit
