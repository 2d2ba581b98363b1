#include "base/memory_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace hearth {
namespace {

constexpr size_t kMebibyte = 1024 * 1024;

TEST(MemoryBudgetTest, RefusesWhatWouldExceedIt) {
  MemoryBudget budget(64 * 1024);
  EXPECT_TRUE(budget.TryTake(60 * 1024));
  EXPECT_FALSE(budget.TryTake(5 * 1024));
  EXPECT_TRUE(budget.TryTake(4 * 1024));
  EXPECT_EQ(budget.used_bytes(), 64u * 1024);
  EXPECT_EQ(budget.refusals(), 1u);
  budget.Return(60 * 1024);
  EXPECT_EQ(budget.used_bytes(), 4u * 1024);
}

TEST(MemoryBudgetTest, KeepsAReserveForSmallClaims) {
  MemoryBudget budget(8 * kMebibyte);
  EXPECT_TRUE(budget.TryTake(7 * kMebibyte));
  EXPECT_FALSE(budget.is_scarce());
  EXPECT_FALSE(budget.TryTake(MemoryBudget::kSmallBytesMax + 1));
  EXPECT_TRUE(budget.TryTake(MemoryBudget::kSmallBytesMax));
  EXPECT_TRUE(budget.is_scarce());
}

TEST(MemoryBudgetTest, RefusesEverythingWhileMoreThanAllIsTaken) {
  MemoryBudget budget(kMebibyte);
  budget.Take(2 * kMebibyte);
  EXPECT_FALSE(budget.TryTake(1));
  budget.Return(2 * kMebibyte);
  EXPECT_TRUE(budget.TryTake(1));
}

TEST(MemoryBudgetTest, CountsConcurrentClaimsExactly) {
  MemoryBudget budget(1'000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&budget] {
      for (int round = 0; round < 10'000; ++round) {
        if (budget.TryTake(400)) {
          EXPECT_LE(budget.used_bytes(), 1'000u);
          budget.Return(400);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(MemoryClaimTest, ReturnsItsBytesOnce) {
  MemoryBudget budget(kMebibyte);
  {
    MemoryClaim claim(&budget);
    EXPECT_TRUE(claim.Grow(1'000));
    EXPECT_TRUE(claim.Resize(400));
    MemoryClaim moved = std::move(claim);
    EXPECT_EQ(budget.used_bytes(), 400u);
    EXPECT_FALSE(moved.Grow(2 * kMebibyte));
    EXPECT_EQ(moved.bytes(), 400u);
    MemoryClaim replaced(&budget);
    EXPECT_TRUE(replaced.Grow(50));
    replaced = std::move(moved);
    EXPECT_EQ(budget.used_bytes(), 400u);
    replaced.GrowAnyway(2 * kMebibyte);
    EXPECT_EQ(budget.used_bytes(), 400u + 2 * kMebibyte);
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(MemoryClaimTest, ReservesAsMuchAgainAsItHas) {
  MemoryBudget budget(kMebibyte);
  MemoryClaim claim(&budget);
  EXPECT_TRUE(claim.Reserve(100));
  EXPECT_EQ(claim.bytes(), 100u);
  EXPECT_TRUE(claim.Reserve(101));
  EXPECT_EQ(claim.bytes(), 200u);
  EXPECT_TRUE(claim.Reserve(200));
  EXPECT_EQ(claim.bytes(), 200u);
  EXPECT_TRUE(claim.Reserve(1'000));
  EXPECT_EQ(claim.bytes(), 1'000u);
}

TEST(MemoryClaimTest, WhatGrowsLargeDoesNotUseTheReserve) {
  MemoryBudget budget(8 * kMebibyte);
  MemoryClaim claim(&budget);
  size_t bytes = 0;
  while (claim.Reserve(bytes + 1'000)) bytes += 1'000;
  EXPECT_FALSE(budget.is_scarce());
  EXPECT_TRUE(budget.TryTake(MemoryBudget::kSmallBytesMax));
}

TEST(MemoryClaimTest, AClaimThatGrowsLargeInSmallStepsIsLarge) {
  MemoryBudget budget(8 * kMebibyte);
  MemoryClaim greedy(&budget);
  constexpr size_t kStepBytes = 1'024;
  while (greedy.Resize(greedy.bytes() + kStepBytes)) {
  }
  EXPECT_EQ(greedy.bytes(), 7 * kMebibyte);
  MemoryClaim other(&budget);
  EXPECT_TRUE(other.Resize(MemoryBudget::kSmallBytesMax));
  EXPECT_FALSE(other.Resize(MemoryBudget::kSmallBytesMax + 1));
}

TEST(MemoryClaimTest, IsAlwaysGrantedWithoutABudget) {
  MemoryClaim claim;
  EXPECT_TRUE(claim.Grow(size_t{1} << 40));
  claim.Reset();
  EXPECT_EQ(claim.bytes(), 0u);
}

}  // namespace
}  // namespace hearth
