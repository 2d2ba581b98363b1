#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/clock.h"

namespace hearth::expiry {

// Decides how fast the sweeper works. Deletions share the committer with the commits of clients:
// while there are any, the sweep works only a small share of the time, in small steps; otherwise it
// works without a pause.
//
// Threads: one at a time. Ownership: borrows the clock.
class SweepPace {
 public:
  // Documents per step.
  static constexpr size_t kIdleStepMax = 128;
  static constexpr size_t kBusyStepMax = 64;
  // While clients commit, the sweep works for one part of the time in this many.
  static constexpr int kBusyParts = 20;
  // After a step that took unusually long, because of a slow disk. The next step is smaller then.
  static constexpr std::chrono::microseconds kPauseMax{2'000'000};

  // `commits` returns the number of commits that have ended, the sweeper's own included.
  SweepPace(const Clock& clock, std::function<uint64_t()> commits)
      : clock_(clock), commits_(std::move(commits)), commits_seen_(commits_()) {}

  // Begins a sweep. Clients are taken to be busy until its first step has shown otherwise; how
  // large a step may be while they are is still known from the sweep before.
  void BeginSweep() {
    commits_seen_ = commits_();
    is_busy_ = true;
  }

  // The number of documents that the next step may delete.
  size_t step_max() const { return is_busy_ ? busy_step_max_ : kIdleStepMax; }

  void BeginStep() { begun_ = clock_.Monotonic(); }
  // How long to pause after a step with `own_commits`. Clients are busy if they have committed
  // since the end of the step before.
  std::chrono::microseconds EndStep(uint64_t own_commits) {
    const uint64_t commits = commits_();
    is_busy_ = commits - commits_seen_ > own_commits;
    commits_seen_ = commits;
    if (!is_busy_) return std::chrono::microseconds(0);
    const auto worked =
        std::chrono::duration_cast<std::chrono::microseconds>(clock_.Monotonic() - begun_);
    const auto pause = worked * (kBusyParts - 1);
    if (pause > kPauseMax) {
      busy_step_max_ = std::max<size_t>(1, busy_step_max_ / 2);
    } else if (pause < kPauseMax / 2) {
      busy_step_max_ = std::min(kBusyStepMax, busy_step_max_ * 2);
    }
    return std::min(pause, kPauseMax);
  }

 private:
  const Clock& clock_;
  const std::function<uint64_t()> commits_;
  uint64_t commits_seen_;
  std::chrono::steady_clock::time_point begun_;
  size_t busy_step_max_ = kBusyStepMax;
  bool is_busy_ = true;
};

}  // namespace hearth::expiry
