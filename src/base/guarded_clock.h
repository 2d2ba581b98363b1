#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace hearth {

// A clock that does not follow the machine's clock when that leaps far into the future while the
// process runs. Commit times never go back: one commit in 2090 would keep all later ones there, and
// documents that expire before 2090 would be deleted.
//
// A leap up to kLeapMax is followed: the clock was corrected, or the machine was asleep. After a
// longer one, time goes on as if there had been none, until the machine's clock is back or the
// process is restarted. Going back is followed.
//
// Threads: safe for concurrent use. Ownership: borrows the clock.
class GuardedClock final : public Clock {
 public:
  static constexpr std::chrono::microseconds kLeapMax = std::chrono::hours(24 * 30);

  // `plausible_micros`: the machine's clock may reach this time by any leap, because it may have
  // been wrong when the process started.
  GuardedClock(const Clock& clock, int64_t plausible_micros);

  int64_t WallMicros() const override;
  std::chrono::steady_clock::time_point Monotonic() const override { return clock_.Monotonic(); }

  // By how much the machine's clock is ahead because of a leap that was not followed.
  std::chrono::microseconds ignored_leap() const;

 private:
  struct Reading {
    int64_t wall_micros;
    int64_t monotonic_micros;
    int64_t offset() const { return wall_micros - monotonic_micros; }
  };
  Reading Read() const;

  const Clock& clock_;
  // The highest difference between wall and monotonic time so far that was no leap.
  mutable std::atomic<int64_t> offset_;
  mutable std::atomic<bool> has_leapt_ = false;
};

}  // namespace hearth
