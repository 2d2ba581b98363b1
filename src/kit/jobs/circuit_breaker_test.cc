#include "kit/jobs/circuit_breaker.h"

#include <gtest/gtest.h>

#include "base/testing/fake_clock.h"

namespace hearth::kit {
namespace {

using Outcome = CircuitBreaker::Outcome;
using State = CircuitBreaker::State;
using std::chrono::milliseconds;
using std::chrono::seconds;

class CircuitBreakerTest : public testing::Test {
 protected:
  bool Try(Outcome outcome) {
    const auto ticket = breaker_.Enter();
    if (ticket) breaker_.Leave(*ticket, outcome);
    return ticket.has_value();
  }
  void Open() {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(Try(Outcome::kFailure));
    ASSERT_EQ(breaker_.state(), State::kOpen);
  }

  FakeClock clock_{0};
  CircuitBreaker breaker_{clock_, 3, seconds(30)};
};

TEST_F(CircuitBreakerTest, OpensAfterSoManyFailuresInARow) {
  EXPECT_TRUE(Try(Outcome::kFailure));
  EXPECT_TRUE(Try(Outcome::kFailure));
  EXPECT_TRUE(Try(Outcome::kSuccess));
  EXPECT_TRUE(Try(Outcome::kFailure));
  EXPECT_TRUE(Try(Outcome::kFailure));
  EXPECT_TRUE(Try(Outcome::kNeither));  // Neither resets nor extends the run of failures.
  EXPECT_EQ(breaker_.state(), State::kClosed);
  EXPECT_TRUE(Try(Outcome::kFailure));
  EXPECT_EQ(breaker_.state(), State::kOpen);
  EXPECT_FALSE(Try(Outcome::kSuccess));
}

TEST_F(CircuitBreakerTest, LetsOneTryAfterAWhile) {
  Open();
  clock_.Advance(seconds(30) - milliseconds(1));
  EXPECT_FALSE(breaker_.Enter());
  clock_.Advance(milliseconds(1));
  const auto probe = breaker_.Enter();
  ASSERT_TRUE(probe);
  EXPECT_EQ(breaker_.state(), State::kHalfOpen);
  EXPECT_FALSE(breaker_.Enter());
  breaker_.Leave(*probe, Outcome::kSuccess);
  EXPECT_EQ(breaker_.state(), State::kClosed);
  EXPECT_TRUE(Try(Outcome::kSuccess));
}

TEST_F(CircuitBreakerTest, AFailedTryOpensItForAnotherWhile) {
  Open();
  clock_.Advance(seconds(30));
  EXPECT_TRUE(Try(Outcome::kFailure));
  EXPECT_EQ(breaker_.state(), State::kOpen);
  clock_.Advance(seconds(30) - milliseconds(1));
  EXPECT_FALSE(Try(Outcome::kSuccess));
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(Try(Outcome::kSuccess));
  EXPECT_EQ(breaker_.state(), State::kClosed);
}

TEST_F(CircuitBreakerTest, ATryThatSaysNothingIsGivenBack) {
  Open();
  clock_.Advance(seconds(30));
  EXPECT_TRUE(Try(Outcome::kNeither));
  EXPECT_EQ(breaker_.state(), State::kHalfOpen);
  EXPECT_TRUE(Try(Outcome::kSuccess));
  EXPECT_EQ(breaker_.state(), State::kClosed);
}

TEST_F(CircuitBreakerTest, WhatBeganBeforeItOpenedDoesNotCount) {
  const auto old = breaker_.Enter();
  const auto older = breaker_.Enter();
  Open();
  breaker_.Leave(*old, Outcome::kSuccess);
  EXPECT_EQ(breaker_.state(), State::kOpen);
  clock_.Advance(seconds(30));
  const auto probe = breaker_.Enter();
  breaker_.Leave(*older, Outcome::kSuccess);
  EXPECT_EQ(breaker_.state(), State::kHalfOpen);
  EXPECT_FALSE(breaker_.Enter());
  breaker_.Leave(*probe, Outcome::kFailure);
  EXPECT_EQ(breaker_.state(), State::kOpen);
}

TEST_F(CircuitBreakerTest, WithoutALimitItNeverOpens) {
  CircuitBreaker never(clock_, 0, seconds(30));
  for (int i = 0; i < 100; ++i) never.Leave(*never.Enter(), Outcome::kFailure);
  EXPECT_EQ(never.state(), State::kClosed);
}

}  // namespace
}  // namespace hearth::kit
