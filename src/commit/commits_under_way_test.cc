#include "commit/commits_under_way.h"

#include <gtest/gtest.h>

namespace hearth::commit {
namespace {

constexpr size_t kMemory = 16 * 1024 * 1024;
constexpr size_t kSmall = 1'024;

class CommitsUnderWayTest : public testing::Test {
 protected:
  static constexpr ClientKey kA{1};
  static constexpr ClientKey kB{2};

  MemoryBudget memory_{kMemory};
  CommitsUnderWay commits_{&memory_};
};

TEST_F(CommitsUnderWayTest, WhatIsClaimedIsReturned) {
  EXPECT_TRUE(commits_.Begin(kA, kSmall));
  EXPECT_TRUE(commits_.Begin(kB, 2 * kSmall));
  EXPECT_EQ(memory_.used_bytes(), 3 * kSmall);
  commits_.End(kA, kSmall);
  EXPECT_EQ(memory_.used_bytes(), 2 * kSmall);
  EXPECT_FALSE(commits_.Begin(kA, kMemory));
  EXPECT_EQ(memory_.used_bytes(), 2 * kSmall);
  commits_.End(kB, 2 * kSmall);
  EXPECT_EQ(memory_.used_bytes(), 0u);
}

// All commits of a client count as one claim, so many small ones do not use up what is left for
// small claims of the others.
TEST_F(CommitsUnderWayTest, ManySmallCommitsAreALargeClaim) {
  const size_t others = kMemory - kMemory / 8;
  memory_.Take(others);
  size_t begun = 0;
  while (begun < 1'000 && commits_.Begin(kA, kSmall)) ++begun;
  EXPECT_EQ(begun, MemoryBudget::kSmallBytesMax / kSmall);
  EXPECT_TRUE(commits_.Begin(kB, kSmall));
  memory_.Return(others);
  EXPECT_TRUE(commits_.Begin(kA, kSmall));
}

}  // namespace
}  // namespace hearth::commit
