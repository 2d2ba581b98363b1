#include "kit/jobs/circuit_breaker.h"

namespace hearth::kit {

std::optional<CircuitBreaker::Ticket> CircuitBreaker::Enter() {
  MutexLock lock(mutex_);
  if (state_ == State::kOpen) {
    if (clock_.Monotonic() < open_until_) return std::nullopt;
    ChangeLocked(State::kHalfOpen);
  }
  if (state_ == State::kHalfOpen) {
    if (is_probing_) return std::nullopt;
    is_probing_ = true;
  }
  return Ticket{changes_};
}

void CircuitBreaker::Leave(Ticket ticket, Outcome outcome) {
  MutexLock lock(mutex_);
  if (ticket != Ticket{changes_}) return;
  is_probing_ = false;
  if (outcome == Outcome::kNeither) return;
  if (outcome == Outcome::kSuccess) {
    failures_in_a_row_ = 0;
    if (state_ == State::kHalfOpen) ChangeLocked(State::kClosed);
    return;
  }
  ++failures_in_a_row_;
  if (failures_max_ == 0) return;
  if (state_ == State::kHalfOpen || failures_in_a_row_ >= failures_max_) {
    open_until_ = clock_.Monotonic() + open_for_;
    ChangeLocked(State::kOpen);
  }
}

CircuitBreaker::State CircuitBreaker::state() const {
  MutexLock lock(mutex_);
  return state_;
}

void CircuitBreaker::ChangeLocked(State state) {
  state_ = state;
  ++changes_;
  failures_in_a_row_ = 0;
  is_probing_ = false;
}

}  // namespace hearth::kit
