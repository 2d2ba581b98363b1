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

TEST(TurnQueueTest, AnItemThatComesBackIsTheClientsFirst) {
  TurnQueue<int> queue;
  for (const int item : {10, 11}) queue.Push(kFirst, item);
  queue.Push(kSecond, 20);
  EXPECT_EQ(queue.Pop(), 10);
  queue.PushFront(kFirst, 12);
  EXPECT_THAT(PopAll(&queue), ElementsAre(20, 12, 11));
  queue.Push(kSecond, 21);
  queue.PushFront(kFirst, 13);
  EXPECT_THAT(PopAll(&queue), ElementsAre(21, 13));
}

TEST(TurnQueueTest, AnItemMayBeTakenOutBeforeItsTurn) {
  TurnQueue<int> queue;
  for (const int item : {10, 11, 12}) queue.Push(kFirst, item);
  queue.Push(kSecond, 20);
  queue.Push(kThird, 30);
  queue.Remove(kFirst, 11);
  queue.Remove(kSecond, 20);
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(queue.clients(), 2u);
  EXPECT_EQ(queue.size_of(kFirst), 2u);
  EXPECT_EQ(queue.size_of(kSecond), 0u);
  queue.Push(kSecond, 21);
  EXPECT_THAT(PopAll(&queue), ElementsAre(10, 30, 21, 12));
  EXPECT_EQ(queue.clients(), 0u);
}

TEST(TurnQueueTest, AClientMayLetTheNextOneGoFirst) {
  TurnQueue<int> queue;
  for (const int item : {10, 11}) queue.Push(kFirst, item);
  queue.Push(kSecond, 20);
  EXPECT_EQ(queue.clients(), 2u);
  queue.Skip();
  EXPECT_EQ(PopAll(&queue), (std::vector<int>{20, 10, 11}));
  EXPECT_EQ(queue.clients(), 0u);
}

// Takes as many places as it can get.
size_t TakeAll(SharedPlaces* places, ClientKey client) {
  size_t taken = 0;
  while (places->TryTake(client)) ++taken;
  return taken;
}

TEST(FairShareTest, AGreedyClientLeavesHalf) {
  SharedPlaces places(256);
  EXPECT_EQ(TakeAll(&places, kFirst), 128u);
  EXPECT_EQ(TakeAll(&places, kSecond), 16u);
  EXPECT_TRUE(places.TryTake(kThird));
  EXPECT_TRUE(places.TryTake(kThird));
  // What it has taken alone, it keeps, but no more than that.
  places.Return(kFirst);
  EXPECT_FALSE(places.TryTake(kFirst));
}

TEST(FairShareTest, AClientThatIsDoneMakesRoom) {
  SharedPlaces places(256);
  EXPECT_EQ(TakeAll(&places, kFirst), 128u);
  EXPECT_EQ(TakeAll(&places, kSecond), 16u);
  for (int i = 0; i < 128; ++i) places.Return(kFirst);
  EXPECT_EQ(TakeAll(&places, kSecond), 112u);
}

// Many connections of one attacker are as many clients.
TEST(FairShareTest, ManyGreedyClientsLeaveAReserveForNewcomers) {
  for (const size_t count : {256u, 20'000u, 50'000u}) {
    SharedPlaces places(count);
    uint64_t next = 1;
    for (int i = 0; i < 7; ++i) EXPECT_GE(TakeAll(&places, ClientKey{next++}), count / 16);
    EXPECT_EQ(places.taken(), count - count / 8);
    // One place each, from here on; and no greedy client gets another one.
    for (size_t i = 0; i < count / 8; ++i) {
      EXPECT_FALSE(places.TryTake(kFirst));
      EXPECT_EQ(TakeAll(&places, ClientKey{next++}), 1u);
    }
    EXPECT_FALSE(places.TryTake(ClientKey{next}));
  }
}

TEST(FairShareTest, FewPlacesAreSharedToo) {
  for (const size_t count : {1u, 2u, 3u, 7u}) {
    SharedPlaces places(count);
    EXPECT_EQ(TakeAll(&places, kFirst), (count + 1) / 2);
    for (size_t i = (count + 1) / 2; i < count; ++i) {
      EXPECT_TRUE(places.TryTake(ClientKey{100 + i}));
    }
    EXPECT_FALSE(places.TryTake(kSecond));
  }
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
