#include "watch/change_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/fake_clock.h"
#include "base/testing/gate.h"
#include "base/testing/test_time.h"
#include "model/testing/documents.h"
#include "query/testing/query_builder.h"

namespace hearth::watch {
namespace {

using model::Timestamp;
using query::QueryBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using Delivery = ChangeFeed::Delivery;

class RecordingSubscriber final : public ChangeFeed::Subscriber {
 public:
  explicit RecordingSubscriber(ClientKey client = ClientKey{1}) : client_(client) {}

  struct Delivered {
    Delivery delivery;
    std::vector<ChangeFeed::Item> items;
    Timestamp through;
  };

  ClientKey client() const override { return client_; }
  void OnChanges(Delivery delivery, std::vector<ChangeFeed::Item> items,
                 Timestamp through) override {
    gate_.Pass();
    MutexLock lock(mutex_);
    delivered_.push_back({delivery, std::move(items), through});
    changed_.NotifyAll();
  }

  // The feed's thread waits here when it has a delivery for this listener.
  Gate& gate() { return gate_; }

  std::vector<Delivered> AwaitThrough(Timestamp through) {
    MutexLock lock(mutex_);
    while (delivered_.empty() || delivered_.back().through < through) changed_.Wait(mutex_);
    return delivered_;
  }

 private:
  const ClientKey client_;
  Gate gate_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Delivered> delivered_ GUARDED_BY(mutex_);
};

std::vector<std::string> PathsOf(const std::vector<RecordingSubscriber::Delivered>& delivered) {
  std::vector<std::string> paths;
  for (const auto& each : delivered) {
    for (const ChangeFeed::Item& item : each.items) paths.push_back(item.change->path.path());
  }
  return paths;
}

std::vector<Delivery> KindsOf(const std::vector<RecordingSubscriber::Delivered>& delivered) {
  std::vector<Delivery> kinds;
  for (const auto& each : delivered) kinds.push_back(each.delivery);
  return kinds;
}

class ChangeFeedTest : public testing::Test {
 protected:
  explicit ChangeFeedTest(const ChangeFeed::Limits& limits = {})
      : feed_(commit_clock_, clock_, limits) {
    feed_.Start();
  }

  Result<TargetNumber> TryRegister(const std::shared_ptr<RecordingSubscriber>& listener,
                                   const QueryBuilder& builder) {
    return feed_.Register(
        listener, kDatabase,
        std::make_shared<const Target>(std::make_unique<const LiveQuery>(name_, builder.Build())));
  }
  TargetNumber Register(const std::shared_ptr<RecordingSubscriber>& listener,
                        const QueryBuilder& builder) {
    return *TryRegister(listener, builder);
  }
  // Commits this many documents at once.
  Timestamp PublishMany(size_t count) {
    const Timestamp time = commit_clock_.Assign();
    std::vector<Change> changes;
    for (size_t i = 0; i < count; ++i) {
      changes.push_back(NumberAt("c/d" + std::to_string(i), 1, time));
    }
    feed_.MakeVisible(std::move(changes));
    return time;
  }
  Change NumberAt(const std::string& path, int64_t number, Timestamp time) {
    return {kDatabase, Path(path), nullptr,
            std::make_shared<const std::string>(
                RecordOf(time.micros(), time.micros(), NumberFields(number))),
            time};
  }
  Timestamp Publish(const std::string& path, int64_t number) {
    const Timestamp time = commit_clock_.Assign();
    feed_.MakeVisible({NumberAt(path, number, time)});
    return time;
  }
  // The changes share one record, but each counts in full.
  Timestamp PublishBytes(size_t bytes) {
    constexpr size_t kEach = 1'000'000;
    const Timestamp time = commit_clock_.Assign();
    const auto record = std::make_shared<const std::string>(
        RecordOf(1, 1, MakeFields({{"t", model::EncodeString(std::string(kEach, 'x'))}})));
    std::vector<Change> changes;
    for (size_t sum = 0; sum < bytes; sum += kEach) {
      changes.push_back({kDatabase, Path("c/large"), nullptr, record, time});
    }
    feed_.MakeVisible(std::move(changes));
    return time;
  }
  // Makes the feed's thread wait at the listener's gate.
  void Block(const std::shared_ptr<RecordingSubscriber>& listener) {
    listener->gate().Close();
    const size_t arrivals = listener->gate().arrivals();
    feed_.Mark(listener);
    listener->gate().AwaitArrivals(arrivals + 1);
  }

  const model::DatabaseName name_ = NameDatabase();
  FakeClock clock_{kTestStartMicros};
  documents::CommitClock commit_clock_{clock_, Timestamp()};
  ChangeFeed feed_;
  std::shared_ptr<RecordingSubscriber> listener_ = std::make_shared<RecordingSubscriber>();
};

TEST_F(ChangeFeedTest, EachHearsOnlyWhatConcernsItsTargets) {
  const auto other = std::make_shared<RecordingSubscriber>();
  Register(listener_, QueryBuilder("c").Above("n", 5));
  Register(other, QueryBuilder("c").Above("n", 15));
  Publish("c/a", 1);
  Publish("c/b", 10);
  Publish("d/c", 20);
  const Timestamp last = Publish("c/d", 20);
  EXPECT_THAT(PathsOf(listener_->AwaitThrough(last)), ElementsAre("c/b", "c/d"));
  EXPECT_THAT(PathsOf(other->AwaitThrough(last)), ElementsAre("c/d"));
}

TEST_F(ChangeFeedTest, AChangeIsSharedByTheTargetsItConcerns) {
  const TargetNumber first = Register(listener_, QueryBuilder("c"));
  const TargetNumber second = Register(listener_, QueryBuilder("c").Equal("n", 1));
  const auto delivered = listener_->AwaitThrough(Publish("c/a", 1));
  ASSERT_EQ(delivered.size(), 1u);
  ASSERT_EQ(delivered[0].items.size(), 2u);
  EXPECT_EQ(delivered[0].items[0].change, delivered[0].items[1].change);
  EXPECT_EQ(delivered[0].items[0].target, first);
  EXPECT_EQ(delivered[0].items[1].target, second);
}

TEST_F(ChangeFeedTest, WhatIsDeliveredGoesBeyondTheTimeOfItsCommits) {
  Register(listener_, QueryBuilder("c"));
  const Timestamp time = commit_clock_.Assign();
  clock_.Advance(std::chrono::microseconds(5));
  feed_.MakeVisible({NumberAt("c/a", 1, time)});
  EXPECT_GT(listener_->AwaitThrough(time).back().through, time);
}

TEST_F(ChangeFeedTest, PublishingMakesCommitsVisibleWhoeverListens) {
  const Timestamp time = Publish("c/a", 1);
  EXPECT_TRUE(commit_clock_.IsVisible(time));
  Register(listener_, QueryBuilder("c"));
  EXPECT_TRUE(commit_clock_.IsVisible(Publish("c/b", 1)));
}

TEST_F(ChangeFeedTest, AMarkIsAMomentAfterAllThatIsVisible) {
  const Timestamp before = Publish("c/a", 1);
  Register(listener_, QueryBuilder("c"));
  const Timestamp mark = feed_.Mark(listener_);
  EXPECT_GE(mark, before);
  EXPECT_THAT(PathsOf(listener_->AwaitThrough(mark)), IsEmpty());
  const Timestamp after = Publish("c/b", 1);
  EXPECT_GT(after, mark);
  EXPECT_THAT(PathsOf(listener_->AwaitThrough(after)), ElementsAre("c/b"));
}

TEST_F(ChangeFeedTest, AMarkDoesNotClaimCommitsThatAreOnTheirWay) {
  Register(listener_, QueryBuilder("c"));
  const Timestamp pending = commit_clock_.Assign();
  EXPECT_LT(feed_.Mark(listener_), pending);
  feed_.MakeVisible({NumberAt("c/a", 1, pending)});
  EXPECT_THAT(PathsOf(listener_->AwaitThrough(pending)), ElementsAre("c/a"));
}

TEST_F(ChangeFeedTest, UnregisteredTargetsAreNotHeardOf) {
  const TargetNumber number = Register(listener_, QueryBuilder("c"));
  EXPECT_EQ(feed_.targets(), 1u);
  feed_.Unregister({number});
  EXPECT_EQ(feed_.targets(), 0u);
  Publish("c/a", 1);
  EXPECT_THAT(PathsOf(listener_->AwaitThrough(feed_.Mark(listener_))), IsEmpty());
}

TEST_F(ChangeFeedTest, AListenerThatIsGoneIsPassedOver) {
  auto gone = std::make_shared<RecordingSubscriber>();
  Register(gone, QueryBuilder("c"));
  Register(listener_, QueryBuilder("c"));
  gone.reset();
  EXPECT_THAT(PathsOf(listener_->AwaitThrough(Publish("c/a", 1))), ElementsAre("c/a"));
}

TEST_F(ChangeFeedTest, HeartbeatsComeOnceAPeriod) {
  Register(listener_, QueryBuilder("c"));
  clock_.Advance(ChangeFeed::kHeartbeatPeriod - std::chrono::microseconds(1));
  feed_.Maintain();
  EXPECT_THAT(KindsOf(listener_->AwaitThrough(feed_.Mark(listener_))),
              ElementsAre(Delivery::kChanges));
  clock_.Advance(std::chrono::microseconds(1));
  feed_.Maintain();
  feed_.Maintain();
  const Timestamp now = Timestamp::FromMicros(clock_.WallMicros());
  EXPECT_THAT(KindsOf(listener_->AwaitThrough(now)),
              ElementsAre(Delivery::kChanges, Delivery::kHeartbeat));
}

TEST_F(ChangeFeedTest, WhatTheQueueHoldsIsDelivered) {
  Register(listener_, QueryBuilder("c"));
  Block(listener_);
  const Timestamp last = PublishBytes(ChangeFeed::kQueuedBytesMax - 4'000'000);
  listener_->gate().Open();
  const auto delivered = listener_->AwaitThrough(last);
  EXPECT_EQ(delivered.back().delivery, Delivery::kChanges);
  EXPECT_GT(delivered.back().items.size(), 60u);
}

TEST_F(ChangeFeedTest, WhatTheQueueCannotHoldIsLostAndAllAreTold) {
  const auto other = std::make_shared<RecordingSubscriber>();
  Register(listener_, QueryBuilder("c"));
  Register(other, QueryBuilder("d"));
  Block(listener_);
  Publish("c/a", 1);
  PublishBytes(ChangeFeed::kQueuedBytesMax);
  const Timestamp after = Publish("c/b", 1);
  listener_->gate().Open();
  const auto delivered = listener_->AwaitThrough(after);
  EXPECT_EQ(delivered.back().delivery, Delivery::kLost);
  EXPECT_THAT(PathsOf(delivered), ElementsAre("c/b"));
  EXPECT_EQ(other->AwaitThrough(after).back().delivery, Delivery::kLost);
  // The next delivery is complete again.
  EXPECT_EQ(listener_->AwaitThrough(Publish("c/c", 1)).back().delivery, Delivery::kChanges);
}

TEST_F(ChangeFeedTest, ALossIsNotHiddenByAHeartbeat) {
  Register(listener_, QueryBuilder("c"));
  Block(listener_);
  clock_.Advance(ChangeFeed::kHeartbeatPeriod);
  feed_.Maintain();
  const Timestamp last = PublishBytes(ChangeFeed::kQueuedBytesMax);
  listener_->gate().Open();
  EXPECT_EQ(listener_->AwaitThrough(last).back().delivery, Delivery::kLost);
}

TEST_F(ChangeFeedTest, AMarkIsAnsweredInSpiteOfALoss) {
  Register(listener_, QueryBuilder("c"));
  const auto marking = std::make_shared<RecordingSubscriber>();
  Block(listener_);
  const Timestamp mark = feed_.Mark(marking);
  PublishBytes(ChangeFeed::kQueuedBytesMax);
  listener_->gate().Open();
  EXPECT_GE(marking->AwaitThrough(mark).back().through, mark);
}

TEST_F(ChangeFeedTest, ManyTargetsEndAtOnce) {
  ChangeFeed::TargetNumbers numbers;
  const size_t count = 2 * ChangeFeed::kUnregisteredAtOnceMax + 1;
  while (numbers.size() < count) numbers.insert(Register(listener_, QueryBuilder("c")));
  const auto other = std::make_shared<RecordingSubscriber>();
  Register(other, QueryBuilder("c"));
  feed_.Unregister(std::move(numbers));
  EXPECT_EQ(feed_.targets(), 1u);
  // Each round of the feed removes some of them.
  while (true) {
    const auto delivered = other->AwaitThrough(Publish("c/a", 1));
    EXPECT_EQ(delivered.back().items.size(), 1u);
    const size_t before = listener_->AwaitThrough(feed_.Mark(listener_)).size();
    other->AwaitThrough(Publish("c/a", 1));
    const auto after = listener_->AwaitThrough(feed_.Mark(listener_));
    if (std::all_of(after.begin() + static_cast<ptrdiff_t>(before), after.end(),
                    [](const auto& each) { return each.items.empty(); })) {
      break;
    }
  }
}

constexpr ChangeFeed::Limits kFewTargets{.targets = 8};
class ChangeFeedTargetsTest : public ChangeFeedTest {
 protected:
  ChangeFeedTargetsTest() : ChangeFeedTest(kFewTargets) {}
};

TEST_F(ChangeFeedTargetsTest, ClientsShareTheTargets) {
  ChangeFeed::TargetNumbers numbers;
  Result<TargetNumber> number = TryRegister(listener_, QueryBuilder("c"));
  for (; number.ok(); number = TryRegister(listener_, QueryBuilder("c"))) numbers.insert(*number);
  EXPECT_EQ(number.status().code(), Code::kResourceExhausted);
  EXPECT_FALSE(numbers.empty());
  EXPECT_LT(numbers.size(), kFewTargets.targets);
  const auto other = std::make_shared<RecordingSubscriber>(ClientKey{2});
  EXPECT_TRUE(TryRegister(other, QueryBuilder("c")).ok());
  // The places of targets that have ended are free again.
  feed_.Unregister(std::move(numbers));
  other->AwaitThrough(feed_.Mark(other));
  EXPECT_TRUE(TryRegister(listener_, QueryBuilder("c")).ok());
}

constexpr ChangeFeed::Limits kFewItems{.parcel_items = 10, .round_items = 15};
class ChangeFeedItemsTest : public ChangeFeedTest {
 protected:
  ChangeFeedItemsTest() : ChangeFeedTest(kFewItems) {}
};

TEST_F(ChangeFeedItemsTest, TooManyForOneAreLostForThatOne) {
  const auto other = std::make_shared<RecordingSubscriber>();
  Register(listener_, QueryBuilder("c"));
  Register(other, QueryBuilder("c").Equal("n", 7));
  EXPECT_EQ(listener_->AwaitThrough(PublishMany(kFewItems.parcel_items)).back().items.size(),
            kFewItems.parcel_items);
  const Timestamp last = PublishMany(kFewItems.parcel_items + 1);
  const auto delivered = listener_->AwaitThrough(last);
  EXPECT_EQ(delivered.back().delivery, Delivery::kLost);
  EXPECT_THAT(delivered.back().items, IsEmpty());
  const Timestamp after = Publish("c/a", 7);
  EXPECT_EQ(listener_->AwaitThrough(after).back().delivery, Delivery::kChanges);
  EXPECT_THAT(KindsOf(other->AwaitThrough(after)), ElementsAre(Delivery::kChanges));
}

TEST_F(ChangeFeedItemsTest, TooManyForAllAreLostForTheOneWithTheMost) {
  const auto other = std::make_shared<RecordingSubscriber>();
  Register(listener_, QueryBuilder("c"));
  Register(listener_, QueryBuilder("c"));
  Register(other, QueryBuilder("c"));
  const Timestamp fits = PublishMany(5);  // 15 items.
  EXPECT_EQ(listener_->AwaitThrough(fits).back().delivery, Delivery::kChanges);
  EXPECT_EQ(other->AwaitThrough(fits).back().items.size(), 5u);
  const auto third = std::make_shared<RecordingSubscriber>();
  Register(third, QueryBuilder("c"));
  const Timestamp too_many = PublishMany(5);
  EXPECT_EQ(listener_->AwaitThrough(too_many).back().delivery, Delivery::kLost);
  EXPECT_EQ(other->AwaitThrough(too_many).back().items.size(), 5u);
  EXPECT_EQ(third->AwaitThrough(too_many).back().items.size(), 5u);
}

constexpr ChangeFeed::Limits kLittleMatching{.matched_bytes = 2'000};
class ChangeFeedMatchingTest : public ChangeFeedTest {
 protected:
  ChangeFeedMatchingTest() : ChangeFeedTest(kLittleMatching) {}
};

TEST_F(ChangeFeedMatchingTest, BeyondTheShareOfAClientChangesAreDeliveredUnchecked) {
  const auto other = std::make_shared<RecordingSubscriber>(ClientKey{2});
  for (int i = 0; i < 100; ++i) Register(listener_, QueryBuilder("c").Above("n", 5));
  Register(other, QueryBuilder("c").Above("n", 5));
  const Timestamp last = Publish("c/a", 1);  // Nobody is concerned.
  const auto delivered = listener_->AwaitThrough(last);
  EXPECT_GT(delivered.back().items.size(), 0u);
  EXPECT_LT(delivered.back().items.size(), 100u);
  EXPECT_THAT(PathsOf(other->AwaitThrough(feed_.Mark(other))), IsEmpty());
}

TEST_F(ChangeFeedTest, AfterStopNobodyIsCalled) {
  Register(listener_, QueryBuilder("c"));
  feed_.Stop();
  const size_t arrivals = listener_->gate().arrivals();
  Publish("c/a", 1);
  feed_.Mark(listener_);
  feed_.Stop();
  EXPECT_EQ(listener_->gate().arrivals(), arrivals);
}

}  // namespace
}  // namespace hearth::watch
