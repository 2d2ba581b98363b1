#include "commit/owed_turns.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace hearth::commit {
namespace {

class OwedTurnsTest : public testing::Test {
 protected:
  static constexpr ClientKey kA{1};
  static constexpr ClientKey kB{2};

  std::vector<int> TakeAll() {
    std::vector<int> taken;
    while (!queue_.empty()) taken.push_back(owed_.TakeNext(&queue_));
    return taken;
  }

  TurnQueue<int> queue_;
  OwedTurns owed_;
};

TEST_F(OwedTurnsTest, AClientLetsOthersGoFirst) {
  for (int i = 1; i <= 2; ++i) queue_.Push(kA, i);
  for (int i = 11; i <= 14; ++i) queue_.Push(kB, i);
  owed_.Charge(kA, 2 * OwedTurns::kTurnBytes, queue_);
  owed_.Charge(kB, OwedTurns::kTurnBytes - 1, queue_);
  EXPECT_EQ(TakeAll(), (std::vector{11, 12, 1, 13, 2, 14}));
  EXPECT_EQ(owed_.clients(), 0u);
}

TEST_F(OwedTurnsTest, AloneItNeedNotWait) {
  queue_.Push(kA, 1);
  owed_.Charge(kA, OwedTurns::kTurnBytes, queue_);
  EXPECT_EQ(TakeAll(), (std::vector{1}));
}

// The queue is never empty.
TEST_F(OwedTurnsTest, ThoseThatHaveLeftAreForgotten) {
  queue_.Push(kA, 1);
  queue_.Push(kB, 2);
  owed_.Charge(kA, OwedTurns::kTurnBytes, queue_);
  for (uint64_t i = 10; i < 10 + 10 * OwedTurns::kClientsMin; ++i) {
    owed_.Charge(ClientKey{i}, OwedTurns::kTurnBytes, queue_);
    ASSERT_LE(owed_.clients(), OwedTurns::kClientsMin);
  }
  EXPECT_EQ(TakeAll(), (std::vector{2, 1}));
}

}  // namespace
}  // namespace hearth::commit
