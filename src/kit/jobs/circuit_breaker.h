#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"

namespace hearth::kit {

// Protects a service that keeps failing: after `failures_max` failures in a row, requests are
// refused for a while. Then one request probes whether the service is back.
//
// Threads: safe for concurrent use. Ownership: borrows the clock.
class CircuitBreaker {
 public:
  enum class State : uint8_t { kClosed, kOpen, kHalfOpen };
  enum class Outcome : uint8_t {
    kSuccess,
    kFailure,
    kNeither,  // Says nothing about the service, as when cancelled.
  };
  // The state in which a request was admitted. Its outcome is ignored once that has changed.
  enum class Ticket : uint64_t {};

  // `failures_max` of 0: never opens.
  CircuitBreaker(const Clock& clock, size_t failures_max, std::chrono::milliseconds open_for)
      : clock_(clock), failures_max_(failures_max), open_for_(open_for) {}

  // nullopt: refused. Otherwise the caller must report the outcome.
  std::optional<Ticket> Enter() EXCLUDES_LOCK(mutex_);
  void Leave(Ticket ticket, Outcome outcome) EXCLUDES_LOCK(mutex_);
  State state() const EXCLUDES_LOCK(mutex_);

 private:
  void ChangeLocked(State state) REQUIRES_LOCK(mutex_);

  const Clock& clock_;
  const size_t failures_max_;
  const std::chrono::milliseconds open_for_;
  mutable Mutex mutex_;  // Leaf lock.
  State state_ GUARDED_BY(mutex_) = State::kClosed;
  uint64_t changes_ GUARDED_BY(mutex_) = 0;
  size_t failures_in_a_row_ GUARDED_BY(mutex_) = 0;
  bool is_probing_ GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point open_until_ GUARDED_BY(mutex_) = {};
};

}  // namespace hearth::kit
