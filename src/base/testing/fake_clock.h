#pragma once

#include <atomic>

#include "base/clock.h"

namespace hearth {

// A clock that moves only when a test moves it. Threads: safe for concurrent use.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(int64_t wall_micros) : wall_micros_(wall_micros) {}

  int64_t WallMicros() const override { return wall_micros_; }
  std::chrono::steady_clock::time_point Monotonic() const override {
    return std::chrono::steady_clock::time_point(std::chrono::microseconds(monotonic_micros_));
  }

  void Advance(std::chrono::microseconds step) {
    wall_micros_ += step.count();
    monotonic_micros_ += step.count();
  }
  // Simulates a change of the machine's clock.
  void SetWall(int64_t wall_micros) { wall_micros_ = wall_micros; }

 private:
  std::atomic<int64_t> wall_micros_;
  std::atomic<int64_t> monotonic_micros_ = 0;
};

}  // namespace hearth
