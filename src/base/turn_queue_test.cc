#include "base/turn_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/fair_share.h"

namespace hearth {
namespace {

using testing::ElementsAre;

constexpr ClientKey kFirst{1};
constexpr ClientKey kSecond{2};
constexpr ClientKey kThird{3};

template <typename T>
std::vector<T> PopAll(TurnQueue<T>* queue) {
  std::vector<T> items;
  while (!queue->empty()) items.push_back(queue->Pop());
  return items;
}

TEST(TurnQueueTest, ClientsTakeTurns) {
  TurnQueue<int> queue;
  for (const int item : {10, 11, 12}) queue.Push(kFirst, item);
  queue.Push(kSecond, 20);
  queue.Push(kThird, 30);
  queue.Push(kThird, 31);
  EXPECT_EQ(queue.size(), 6u);
  EXPECT_EQ(queue.size_of(kFirst), 3u);
  EXPECT_EQ(queue.NextClient(), kFirst);
  EXPECT_THAT(PopAll(&queue), ElementsAre(10, 20, 30, 11, 31, 12));
  EXPECT_EQ(queue.size_of(kFirst), 0u);
}

TEST(TurnQueueTest, AClientWithOneItemWaitsForOneOfTheOthers) {
  TurnQueue<int> queue;
  for (int i = 0; i < 20'000; ++i) queue.Push(kFirst, i);
  EXPECT_EQ(queue.Pop(), 0);
  queue.Push(kSecond, -1);
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
  while (places.TryTake(kFirst)) ++of_a;
  EXPECT_EQ(of_a, 50u);
  size_t of_b = 0;
  while (places.TryTake(kSecond)) ++of_b;
  EXPECT_EQ(of_b, 25u);
  EXPECT_TRUE(places.TryTake(kThird));
  places.Return(kSecond);
  EXPECT_TRUE(places.TryTake(kThird));
  EXPECT_FALSE(places.TryTake(kFirst));
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
