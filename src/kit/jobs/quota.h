#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"

namespace hearth::kit {

// A number of uses per window for each key, such as sign-in attempts by address. A window begins
// with the first use of a key and lasts `window`.
// || At most `keys_max` keys are kept. Beyond that the oldest window is dropped, those with uses
// left first: a client that invents keys makes the limits less strict, but locks nobody out.
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
  // Spends one use, if any is left. `stricter_limit` replaces the limit this time.
  Outcome Spend(const std::string& key, std::optional<size_t> stricter_limit = std::nullopt)
      EXCLUDES_LOCK(mutex_);
  // Gives one use back, for instance because the attempt did not fail.
  void Refund(const std::string& key) EXCLUDES_LOCK(mutex_);
  // Starts a new window for the key, for instance after a success.
  void Reset(const std::string& key) EXCLUDES_LOCK(mutex_);

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Window {
    std::string key;
    TimePoint end;
    size_t used = 0;
  };
  using Windows = std::list<Window>;

  // Where a window with so many uses belongs.
  Windows& ListFor(size_t used) REQUIRES_LOCK(mutex_) { return used < limit_ ? open_ : spent_; }
  void SetUsed(Windows::iterator window, size_t used) REQUIRES_LOCK(mutex_);
  void Drop(Windows::iterator window) REQUIRES_LOCK(mutex_);
  // The key's window, made or begun anew if need be.
  Windows::iterator WindowOf(const std::string& key, TimePoint now) REQUIRES_LOCK(mutex_);

  const Clock& clock_;
  const size_t limit_;
  const std::chrono::milliseconds window_;
  const size_t keys_max_;
  Mutex mutex_;  // Leaf lock.
  // The oldest first: windows with uses left, and others.
  Windows open_ GUARDED_BY(mutex_);
  Windows spent_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, Windows::iterator> by_key_ GUARDED_BY(mutex_);
};

}  // namespace hearth::kit
