#include "transactions/lock_memory.h"

#include <gtest/gtest.h>

namespace hearth::transactions {
namespace {

constexpr ClientKey kReader{1};
constexpr ClientKey kSecondReader{2};
constexpr size_t kMax = LockMemory::kReadBytesMax;

TEST(LockMemoryTest, ClientsShareWhatTransactionsMayHold) {
  LockMemory memory(nullptr);
  EXPECT_TRUE(memory.Take(kReader, {kMax / 2, 0}));
  EXPECT_FALSE(memory.Take(kReader, {1, 0}));
  EXPECT_TRUE(memory.Take(kReader, {0, kMax}));  // A commit.
  EXPECT_TRUE(memory.Take(kSecondReader, {kMax / 4, 0}));
  EXPECT_FALSE(memory.Take(kSecondReader, {1, 0}));
  EXPECT_TRUE(memory.Take(ClientKey::kInternal, {kMax / 4, 0}));
  EXPECT_FALSE(memory.Take(ClientKey::kInternal, {1, 0}));
  memory.Return(kReader, {kMax / 2, kMax});
  EXPECT_TRUE(memory.Take(kSecondReader, {1, 0}));
}

TEST(LockMemoryTest, EverythingIsClaimedFromTheBudget) {
  MemoryBudget budget(1'000);
  LockMemory memory(&budget);
  EXPECT_FALSE(memory.Take(kReader, {600, 600}));
  EXPECT_EQ(budget.used_bytes(), 0u);
  EXPECT_TRUE(memory.Take(kReader, {400, 600}));
  EXPECT_EQ(budget.used_bytes(), 1'000u);
  EXPECT_FALSE(memory.Take(kSecondReader, {0, 1}));
  memory.Return(kReader, {400, 600});
  EXPECT_EQ(budget.used_bytes(), 0u);
}

TEST(LockMemoryTest, LocksOfReadsLast) {
  constexpr size_t kSmallBytes = 1'000;
  MemoryBudget budget(8 * 1024 * 1024);
  LockMemory memory(&budget);
  const auto fill = [&](ClientKey client) {
    size_t taken = 0;
    while (memory.Take(client, {kSmallBytes, 0})) ++taken;
    return taken * kSmallBytes;
  };
  const size_t of_one = fill(kReader);
  EXPECT_LE(of_one, budget.bytes_max() / 8 * 3);
  EXPECT_GT(of_one, budget.bytes_max() / 8 * 3 - kSmallBytes);
  EXPECT_EQ(budget.lasting_bytes(), of_one);
  const size_t of_second = fill(kSecondReader);
  EXPECT_GT(of_second, 0u);
  EXPECT_LT(of_second, of_one);
  // Those without a connection are no one client.
  EXPECT_GT(fill(ClientKey::kInternal), of_second);
  EXPECT_FALSE(memory.Take(ClientKey{3}, {kSmallBytes, 0}));
  EXPECT_TRUE(memory.Take(ClientKey{3}, {0, kSmallBytes}));  // A commit.
  memory.Return(kReader, {of_one, 0});
  EXPECT_TRUE(memory.Take(ClientKey{3}, {kSmallBytes, 0}));
}

TEST(LockMemoryTest, ManySmallClaimsOfAClientLeaveTheReserve) {
  constexpr size_t kSmallBytes = 1'000;
  MemoryBudget budget(8 * 1024 * 1024);
  LockMemory memory(&budget);
  budget.Take(budget.bytes_max() / 8 * 7);
  size_t taken = 0;
  while (memory.Take(kReader, {kSmallBytes, 0})) taken += kSmallBytes;
  EXPECT_LE(taken, MemoryBudget::kSmallBytesMax);
  EXPECT_GT(taken, MemoryBudget::kSmallBytesMax - kSmallBytes);
}

}  // namespace
}  // namespace hearth::transactions
