#include "kit/web/lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "http/testing/test_server.h"

namespace hearth::kit {
namespace {

using testing::ElementsAre;

class LaneTest : public testing::Test {
 protected:
  // A task that waits until Release.
  Lane::Admission PostWaiting(Lane& lane, const std::string& group) {
    return lane.TryPost({.group = group}, [this] {
      waiting_.Update([](int& count) { ++count; });
      released_.wait();
    });
  }
  // A task that writes down its name.
  Lane::Admission Post(Lane& lane, const std::string& group, const std::string& name,
                       const void* connection = nullptr) {
    return lane.TryPost({.group = group, .connection = connection}, [this, name] {
      done_.Update([&](std::vector<std::string>& names) { names.push_back(name); });
    });
  }
  bool UntilWaiting(int count) {
    return waiting_.WaitFor([count](int waiting) { return waiting == count; });
  }
  bool UntilDone(size_t count) {
    return done_.WaitFor([count](const auto& names) { return names.size() == count; });
  }
  std::vector<std::string> done() {
    std::vector<std::string> copy;
    done_.Update([&](std::vector<std::string>& names) { copy = names; });
    return copy;
  }
  void Release() { release_.set_value(); }

  http::Watched<int> waiting_{0};
  http::Watched<std::vector<std::string>> done_{{}};
  std::promise<void> release_;
  std::shared_future<void> released_ = release_.get_future().share();
};

TEST_F(LaneTest, ClientsTakeTurnsHoweverManyTasksTheyHave) {
  Lane lane(LaneOptions::Of(1, 100));
  ASSERT_EQ(PostWaiting(lane, "greedy"), Lane::Admission::kTaken);
  ASSERT_TRUE(UntilWaiting(1));
  for (const char* name : {"greedy 1", "greedy 2", "greedy 3"}) {
    ASSERT_EQ(Post(lane, "greedy", name), Lane::Admission::kTaken);
  }
  ASSERT_EQ(Post(lane, "modest", "modest 1"), Lane::Admission::kTaken);
  Release();
  ASSERT_TRUE(UntilDone(4));
  // The greedy client has just had a turn.
  EXPECT_THAT(done(), ElementsAre("modest 1", "greedy 1", "greedy 2", "greedy 3"));
}

TEST_F(LaneTest, ManyConnectionsAreNoMoreTurnsThanOne) {
  Lane lane(LaneOptions::Of(1, 100));
  ASSERT_EQ(PostWaiting(lane, "greedy"), Lane::Admission::kTaken);
  ASSERT_TRUE(UntilWaiting(1));
  const int connections[3] = {};
  ASSERT_EQ(Post(lane, "greedy", "a1", &connections[0]), Lane::Admission::kTaken);
  ASSERT_EQ(Post(lane, "greedy", "a2", &connections[0]), Lane::Admission::kTaken);
  ASSERT_EQ(Post(lane, "greedy", "b1", &connections[1]), Lane::Admission::kTaken);
  ASSERT_EQ(Post(lane, "greedy", "c1", &connections[2]), Lane::Admission::kTaken);
  ASSERT_EQ(Post(lane, "modest", "modest 1"), Lane::Admission::kTaken);
  Release();
  ASSERT_TRUE(UntilDone(5));
  // Connections of one group take turns among themselves.
  EXPECT_THAT(done(), ElementsAre("modest 1", "a1", "b1", "c1", "a2"));
}

TEST_F(LaneTest, OneClientNeverHasAllThreads) {
  Lane lane(LaneOptions::Of(4, 100));
  for (int i = 0; i < 8; ++i) ASSERT_EQ(PostWaiting(lane, "greedy"), Lane::Admission::kTaken);
  ASSERT_TRUE(UntilWaiting(3));
  EXPECT_EQ(lane.queued_tasks(), 5u);
  ASSERT_EQ(Post(lane, "modest", "modest 1"), Lane::Admission::kTaken);
  ASSERT_TRUE(UntilDone(1));  // Although the greedy client's tasks have not ended.
  Release();
}

TEST_F(LaneTest, QueueAndSharesAreBounded) {
  Lane lane({.threads = 1, .queued_max = 3, .running_per_group_max = 1});
  ASSERT_EQ(PostWaiting(lane, "greedy"), Lane::Admission::kTaken);
  ASSERT_TRUE(UntilWaiting(1));
  EXPECT_EQ(Post(lane, "greedy", "1"), Lane::Admission::kTaken);
  EXPECT_EQ(Post(lane, "greedy", "2"), Lane::Admission::kTaken);
  EXPECT_EQ(Post(lane, "greedy", "3"), Lane::Admission::kShareUsed);
  EXPECT_EQ(Post(lane, "modest", "4"), Lane::Admission::kTaken);
  EXPECT_EQ(Post(lane, "third", "5"), Lane::Admission::kFull);
  Release();
  ASSERT_TRUE(UntilDone(3));
  EXPECT_EQ(Post(lane, "greedy", "6"), Lane::Admission::kTaken);
  ASSERT_TRUE(UntilDone(4));
}

// Each greedy client takes half of what is left.
TEST_F(LaneTest, ANewcomerFindsAPlaceBesideGreedyClients) {
  Lane lane(LaneOptions::Of(1, 16));
  ASSERT_EQ(PostWaiting(lane, "greedy"), Lane::Admission::kTaken);
  ASSERT_TRUE(UntilWaiting(1));
  size_t taken = 0;
  for (const size_t share : {8u, 4u, 2u, 1u}) {
    const std::string client = "greedy " + std::to_string(share);
    for (size_t i = 0; i < share; ++i) {
      ASSERT_EQ(Post(lane, client, client), Lane::Admission::kTaken);
    }
    ASSERT_EQ(Post(lane, client, client), Lane::Admission::kShareUsed);
    taken += share;
  }
  EXPECT_EQ(Post(lane, "modest", "modest"), Lane::Admission::kTaken);
  EXPECT_EQ(lane.queued_tasks(), taken + 1);
  EXPECT_EQ(Post(lane, "late", "late"), Lane::Admission::kFull);
  Release();
  ASSERT_TRUE(UntilDone(taken + 1));
}

TEST_F(LaneTest, TheDestructorRunsWhatIsQueued) {
  {
    std::optional<Lane> lane(LaneOptions::Of(4, 100));
    for (int i = 0; i < 5; ++i) ASSERT_EQ(PostWaiting(*lane, "a"), Lane::Admission::kTaken);
    for (int i = 0; i < 20; ++i) ASSERT_EQ(Post(*lane, "a", "x"), Lane::Admission::kTaken);
    ASSERT_TRUE(UntilWaiting(3));
    Release();
  }
  EXPECT_EQ(done().size(), 20u);
}

TEST(AddressGroupTest, AnIpv6ClientIsItsNetwork) {
  EXPECT_EQ(AddressGroup("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(AddressGroup("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(AddressGroup("2001:db8:1:2:ffff::1"), AddressGroup("2001:db8:1:2::9"));
  EXPECT_NE(AddressGroup("2001:db8:1:3::9"), AddressGroup("2001:db8:1:2::9"));
  EXPECT_EQ(AddressGroup(""), "");
}

// Each local client can use all of these addresses.
TEST(AddressGroupTest, ThisMachineIsOneClient) {
  for (const char* address : {"127.0.0.2", "127.255.255.255", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_EQ(AddressGroup(address), AddressGroup("127.0.0.1")) << address;
  }
  for (const char* address : {"128.0.0.1", "126.255.255.255", "::2", "10.0.0.1"}) {
    EXPECT_NE(AddressGroup(address), AddressGroup("127.0.0.1")) << address;
  }
}

}  // namespace
}  // namespace hearth::kit
