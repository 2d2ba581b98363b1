#pragma once

#include <chrono>
#include <cstdint>

namespace hearth {

// The source of time. Threads: implementations are safe for concurrent use.
class Clock {
 public:
  virtual ~Clock() = default;

  // Microseconds since the Unix epoch. May jump, even backwards, when the machine's clock is set.
  virtual int64_t WallMicros() const = 0;

  // For timeouts: never goes back.
  virtual std::chrono::steady_clock::time_point Monotonic() const = 0;
};

class SystemClock final : public Clock {
 public:
  int64_t WallMicros() const override;
  std::chrono::steady_clock::time_point Monotonic() const override;
};

}  // namespace hearth
