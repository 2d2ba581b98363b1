#include "apps/feed/core/single_flight.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

namespace hearth::feed {
namespace {

using Outcome = SingleFlight::Outcome;

constexpr size_t kWaitersMax = 3;

// Work for one key that runs until it is released.
class HeldFlight {
 public:
  HeldFlight(SingleFlight& flights, UserId key)
      : outcome_(std::async(std::launch::async, [&flights, key, this] {
          return flights.Run(key, [this] {
            begun_.count_down();
            let_go_.wait();
          });
        })) {
    begun_.wait();
  }
  Outcome Finish() {
    let_go_.count_down();
    return outcome_.get();
  }

 private:
  std::latch begun_{1};
  std::latch let_go_{1};
  std::future<Outcome> outcome_;  // Last: its thread uses the others.
};

TEST(SingleFlightTest, WorkOfOneKeyHoldsUpNoOther) {
  SingleFlight flights(kWaitersMax);
  HeldFlight held(flights, UserId{1});
  bool has_run = false;
  EXPECT_EQ(flights.Run(UserId{2}, [&] { has_run = true; }), Outcome::kWorked);
  EXPECT_TRUE(has_run);
  EXPECT_EQ(held.Finish(), Outcome::kWorked);
}

TEST(SingleFlightTest, OneWorksAFewWaitAndTheRestAreTurnedAway) {
  SingleFlight flights(kWaitersMax);
  HeldFlight held(flights, UserId{1});
  std::atomic<int> runs = 0;
  std::vector<Outcome> outcomes(kWaitersMax + 1, Outcome::kWorked);
  std::latch one_is_back(1);
  std::vector<std::thread> threads;
  for (Outcome& outcome : outcomes) {
    threads.emplace_back([&] {
      outcome = flights.Run(UserId{1}, [&] { ++runs; });
      // Waiters return only after the test has released the work.
      if (outcome == Outcome::kCrowded) one_is_back.count_down();
    });
  }
  one_is_back.wait();
  EXPECT_EQ(held.Finish(), Outcome::kWorked);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::ranges::count(outcomes, Outcome::kWaited), kWaitersMax);
  EXPECT_EQ(std::ranges::count(outcomes, Outcome::kCrowded), 1);
  EXPECT_EQ(runs, 0);
}

TEST(SingleFlightTest, TheNextAfterItsEndWorksAgain) {
  SingleFlight flights(0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(flights.Run(UserId{1}, [] {}), Outcome::kWorked);
  EXPECT_THROW(flights.Run(UserId{1}, [] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(flights.Run(UserId{1}, [] {}), Outcome::kWorked);
}

}  // namespace
}  // namespace hearth::feed
