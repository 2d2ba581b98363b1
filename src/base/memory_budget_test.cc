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

// As much as `client` gets in steps of that many bytes.
size_t TakeLasting(MemoryBudget* budget, ClientKey client, size_t step_bytes) {
  size_t taken = 0;
  while (budget->TryTakeLasting(client, step_bytes)) taken += step_bytes;
  return taken;
}

TEST(MemoryBudgetTest, WhateverLastsLeavesRoomForShortWork) {
  MemoryBudget budget(64 * kMebibyte);
  size_t lasting = 0;
  for (uint64_t client = 1; client <= 1'000; ++client) {
    lasting += TakeLasting(&budget, ClientKey{client}, 32 * 1024);
  }
  lasting += TakeLasting(&budget, ClientKey::kInternal, 32 * 1024);
  EXPECT_EQ(lasting, 48 * kMebibyte);
  EXPECT_EQ(budget.lasting_bytes(), lasting);
  EXPECT_TRUE(budget.TryTake(8 * kMebibyte));
  EXPECT_FALSE(budget.TryTake(kMebibyte));
  for (int i = 0; i < 128; ++i) EXPECT_TRUE(budget.TryTake(MemoryBudget::kSmallBytesMax));
}

TEST(MemoryBudgetTest, OfTheReserveHalfIsNotForWhatLasts) {
  constexpr ClientKey kClient{1};
  MemoryBudget budget(16 * kMebibyte);
  budget.Take(14 * kMebibyte);
  EXPECT_FALSE(budget.TryTakeLasting(kClient, MemoryBudget::kSmallBytesMax + 1));
  EXPECT_FALSE(budget.TryTakeLasting(kClient, 1, MemoryBudget::kSmallBytesMax));
  EXPECT_FALSE(budget.is_nearly_used_up());
  EXPECT_EQ(TakeLasting(&budget, kClient, 32 * 1024), kMebibyte);
  EXPECT_FALSE(budget.is_nearly_used_up());
  EXPECT_TRUE(budget.TryTake(MemoryBudget::kSmallBytesMax));
  EXPECT_TRUE(budget.is_nearly_used_up());
  EXPECT_FALSE(budget.TryTakeLasting(kClient, 1));
  budget.ReturnLasting(kClient, kMebibyte);
  EXPECT_EQ(budget.lasting_bytes(), 0u);
  EXPECT_TRUE(budget.TryTakeLasting(kClient, 1));
}

TEST(MemoryBudgetTest, ClientsShareWhatLasts) {
  constexpr size_t kStepBytes = 64 * 1024;
  constexpr size_t kLastingMax = 48 * kMebibyte;
  MemoryBudget budget(64 * kMebibyte);
  EXPECT_EQ(TakeLasting(&budget, ClientKey{1}, kStepBytes), kLastingMax / 2);
  for (uint64_t client = 2; client <= 7; ++client) {
    EXPECT_EQ(TakeLasting(&budget, ClientKey{client}, kStepBytes), kLastingMax / 16);
  }
  for (uint64_t client = 8; client <= 55; ++client) {
    EXPECT_EQ(TakeLasting(&budget, ClientKey{client}, kStepBytes), MemoryBudget::kLittleBytesMax);
  }
  EXPECT_EQ(TakeLasting(&budget, ClientKey{56}, kStepBytes), 0u);
  EXPECT_EQ(budget.lasting_bytes(), kLastingMax);
  // One that holds more than the bound is refused, and so are the others.
  budget.TakeLasting(ClientKey{1}, kMebibyte);
  EXPECT_FALSE(budget.TryTakeLasting(ClientKey::kInternal, 1));
  budget.ReturnLasting(ClientKey{1}, 2 * kMebibyte);
  EXPECT_FALSE(budget.TryTakeLasting(ClientKey{1}, 1));
  EXPECT_TRUE(budget.TryTakeLasting(ClientKey{56}, 1));
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
        if (budget.TryTakeLasting(ClientKey{1}, 300)) {
          EXPECT_LE(budget.used_bytes(), 1'000u);
          budget.ReturnLasting(ClientKey{1}, 300);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used_bytes(), 0u);
  EXPECT_EQ(budget.lasting_bytes(), 0u);
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

TEST(MemoryClaimTest, ALastingOneIsReturnedAsSuch) {
  constexpr ClientKey kClient{1};
  MemoryBudget budget(kMebibyte);
  {
    MemoryClaim claim = MemoryClaim::Lasting(&budget, kClient);
    EXPECT_TRUE(claim.Resize(1'000));
    claim.GrowAnyway(500);
    EXPECT_TRUE(claim.Resize(700));
    EXPECT_TRUE(claim.MakeLasting(kClient));
    MemoryClaim moved = std::move(claim);
    MemoryClaim replaced(&budget);
    replaced = std::move(moved);
    EXPECT_TRUE(replaced.Grow(300));
    EXPECT_EQ(budget.lasting_bytes(), 1'000u);
    EXPECT_EQ(budget.used_bytes(), 1'000u);
  }
  EXPECT_EQ(budget.lasting_bytes(), 0u);
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(MemoryClaimTest, AShortOneMayBecomeLasting) {
  constexpr ClientKey kClient{1};
  MemoryBudget budget(kMebibyte);
  MemoryClaim claim(&budget);
  EXPECT_TRUE(claim.Resize(700'000));
  EXPECT_FALSE(claim.MakeLasting(kClient));  // More than its share.
  EXPECT_EQ(claim.bytes(), 700'000u);
  EXPECT_EQ(budget.lasting_bytes(), 0u);
  EXPECT_TRUE(claim.Resize(300'000));
  EXPECT_TRUE(claim.MakeLasting(kClient));
  EXPECT_EQ(budget.lasting_bytes(), 300'000u);
  EXPECT_EQ(budget.used_bytes(), 300'000u);
}

TEST(MemoryClaimTest, IsAlwaysGrantedWithoutABudget) {
  MemoryClaim claim;
  EXPECT_TRUE(claim.Grow(size_t{1} << 40));
  claim.Reset();
  EXPECT_EQ(claim.bytes(), 0u);
}

}  // namespace
}  // namespace hearth
