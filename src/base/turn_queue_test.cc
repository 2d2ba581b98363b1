#include "base/turn_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/fair_share.h"

namespace hearth {
namespace {

using testing::ElementsAre;

constexpr ClientKey kA{1};
constexpr ClientKey kB{2};
constexpr ClientKey kC{3};

template <typename T>
std::vector<T> PopAll(TurnQueue<T>* queue) {
  std::vector<T> items;
  while (!queue->empty()) items.push_back(queue->Pop());
  return items;
}

TEST(TurnQueueTest, ClientsTakeTurns) {
  TurnQueue<int> queue;
  for (const int item : {10, 11, 12}) queue.Push(kA, item);
  queue.Push(kB, 20);
  queue.Push(kC, 30);
  queue.Push(kC, 31);
  EXPECT_EQ(queue.size(), 6u);
  EXPECT_EQ(queue.size_of(kA), 3u);
  EXPECT_EQ(queue.NextClient(), kA);
  EXPECT_THAT(PopAll(&queue), ElementsAre(10, 20, 30, 11, 31, 12));
  EXPECT_EQ(queue.size_of(kA), 0u);
}

TEST(TurnQueueTest, AClientWithOneItemWaitsForOneOfTheOthers) {
  TurnQueue<int> queue;
  for (int i = 0; i < 20'000; ++i) queue.Push(kA, i);
  EXPECT_EQ(queue.Pop(), 0);
  queue.Push(kB, -1);
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), -1);
}

TEST(TurnQueueTest, AClientMayComeBack) {
  TurnQueue<int> queue;
  for (int round = 0; round < 100; ++round) {
    for (uint64_t client = 1; client <= 50; ++client) queue.Push(ClientKey{client}, round);
    EXPECT_EQ(PopAll(&queue).size(), 50u);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(FairShareTest, AGreedyClientLeavesHalf) {
  SharedPlaces places(100);
  size_t of_a = 0;
  while (places.TryTake(kA)) ++of_a;
  EXPECT_EQ(of_a, 50u);
  size_t of_b = 0;
  while (places.TryTake(kB)) ++of_b;
  EXPECT_EQ(of_b, 25u);
  EXPECT_TRUE(places.TryTake(kC));
  places.Return(kB);
  EXPECT_TRUE(places.TryTake(kC));
  EXPECT_FALSE(places.TryTake(kA));
}

TEST(FairShareTest, TheProcessItselfMayTakeTheLastPlace) {
  SharedPlaces places(2);
  EXPECT_TRUE(places.TryTake(ClientKey::kInternal));
  EXPECT_TRUE(places.TryTake(ClientKey::kInternal));
  EXPECT_FALSE(places.TryTake(ClientKey::kInternal));
  EXPECT_EQ(places.taken(), 2u);
}

}  // namespace
}  // namespace hearth
