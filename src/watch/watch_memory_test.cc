#include "watch/watch_memory.h"

#include <gtest/gtest.h>

#include <string>

#include "watch/testing/documents.h"

namespace hearth::watch {
namespace {

using query::QueryBuilder;

constexpr ClientKey kClient{1};
constexpr ClientKey kSecondClient{2};
constexpr size_t kSmallBytes = MemoryBudget::kSmallBytesMax;
constexpr size_t kBudgetBytes = 64 * kSmallBytes;
constexpr size_t kLarge = 100'000;

size_t BytesOf(const QueryBuilder& builder) {
  request::TargetRequest request;
  request.target = builder.Build();
  return watch::BytesOf(request);
}

TEST(WatchMemoryTest, OnlySmallMemoryUsesTheReserve) {
  MemoryBudget budget(kBudgetBytes);
  budget.Take(kBudgetBytes / 8 * 7 + 1);
  WatchMemory small(&budget, kClient);
  EXPECT_TRUE(small.Grow(kSmallBytes - 1));
  EXPECT_TRUE(small.Grow(1));
  EXPECT_FALSE(small.Grow(1));  // A small step of a large one.
  EXPECT_EQ(small.bytes(), kSmallBytes);
  EXPECT_TRUE(small.Another().Grow(1));
}

TEST(WatchMemoryTest, ItLasts) {
  MemoryBudget budget(kBudgetBytes);
  {
    WatchMemory memory(&budget, kClient);
    EXPECT_TRUE(memory.Grow(kBudgetBytes / 8 * 3));
    EXPECT_EQ(budget.lasting_bytes(), kBudgetBytes / 8 * 3);
    EXPECT_FALSE(memory.Another().Grow(1));  // The client has had its share.
    EXPECT_TRUE(WatchMemory(&budget, kSecondClient).Grow(1));
    memory.Shrink(1);
    EXPECT_TRUE(memory.Another().Grow(1));
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
  EXPECT_TRUE(WatchMemory().Grow(kBudgetBytes));
}

TEST(WatchMemoryTest, AnOrdinaryTargetIsSmall) {
  EXPECT_LT(BytesOf(QueryBuilder("c").Equal("a").Descending("b").Limit(20)), 16'000u);
}

TEST(WatchMemoryTest, WhateverAClientCanMakeLargeCounts) {
  const std::string large = model::EncodeString(std::string(kLarge, 'x'));
  EXPECT_GT(BytesOf(QueryBuilder("c").Ascending("a").Start({large}, true)), 3 * kLarge);
  request::TargetRequest request;
  request.target = DocumentSet(1'000, Path("c/" + std::string(100, 'd')));
  EXPECT_GT(watch::BytesOf(request), 2 * kLarge);
  request.target = DocumentSet();
  const size_t nothing = watch::BytesOf(request);
  request.mask = std::vector(1'000, *model::FieldPath::Parse(std::string(100, 'f')));
  EXPECT_GT(watch::BytesOf(request), nothing + kLarge);
  request.mask.reset();
  request.resume = request::TargetRequest::Resume{std::string(kLarge, 't')};
  EXPECT_EQ(watch::BytesOf(request), nothing + kLarge);
}

}  // namespace
}  // namespace hearth::watch
