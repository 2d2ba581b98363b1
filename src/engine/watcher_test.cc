#include "watch/watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/testing/test_engine.h"
#include "engine/testing/test_watch.h"

namespace hearth::engine {
namespace {

using model::Timestamp;
using query::QueryBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using Speed = WatchClient::Speed;

const QueryBuilder kAbove5 = QueryBuilder("c").Above("n", 5);
const QueryBuilder kFirstTwo = QueryBuilder("c").Ascending("n").Limit(2);

class WatcherTest : public testing::Test {
 protected:
  ~WatcherTest() override {
    EXPECT_THAT(watch_.client().Now().faults, IsEmpty());
    watch_.Close();
    EXPECT_EQ(test_.engine().live_targets(), 0u);
  }

  Timestamp Put(const std::string& path, int64_t number) {
    return test_.MustCommit(SetNumber(path, number));
  }
  WatchClient& client() { return watch_.client(); }

  TestEngine test_;
  TestWatch watch_{test_};
};

TEST_F(WatcherTest, SendsTheResultsAndThenSaysThatTheyAreAllThereIs) {
  Put("c/a", 1);
  Put("c/b", 9);
  const Timestamp last = Put("d/c", 9);
  const TargetView view = watch_.Start(1, kAbove5);
  EXPECT_THAT(view.Paths(), ElementsAre("c/b"));
  EXPECT_TRUE(view.is_current);
  EXPECT_GE(view.read_time, last);
  EXPECT_EQ(NumberOf(*view.documents.at("c/b").record), 9);
  EXPECT_EQ(test_.engine().live_targets(), 1u);
}

TEST_F(WatcherTest, ACommitIsSeenWhole) {
  watch_.Start(1, kAll);
  watch_.Start(2, kAbove5);
  const Timestamp time =
      test_.MustCommit({SetNumber("c/a", 1), SetNumber("c/b", 8), SetNumber("c/c", 9)});
  const WatchSnapshot snapshot = client().AwaitSnapshot(time);
  EXPECT_THAT(snapshot.targets.at(1).Paths(), ElementsAre("c/a", "c/b", "c/c"));
  EXPECT_THAT(snapshot.targets.at(2).Paths(), ElementsAre("c/b", "c/c"));
}

TEST_F(WatcherTest, ADocumentOfSeveralTargetsIsSentOnce) {
  watch_.Start(1, kAll);
  watch_.Start(2, kAbove5);
  const size_t before = client().Now().document_events;
  client().AwaitSnapshot(Put("c/a", 9));
  EXPECT_EQ(client().Now().document_events, before + 1);
  // Removed from one target, changed in the other.
  const WatchSnapshot snapshot = client().AwaitSnapshot(Put("c/a", 1));
  EXPECT_EQ(client().Now().document_events, before + 2);
  EXPECT_THAT(snapshot.targets.at(1).Paths(), ElementsAre("c/a"));
  EXPECT_THAT(snapshot.targets.at(2).Paths(), IsEmpty());
}

// test/cases/listen/once.case has what the client receives.
TEST_F(WatcherTest, ATargetThatWasWantedOnceIsReleased) {
  request::TargetRequest request = watch_.RequestFor(kAll);
  request.once = true;
  watch_.watcher().AddTarget(1, std::move(request));
  EXPECT_TRUE(client().AwaitRemoved(1).ok());
  EXPECT_EQ(test_.engine().live_targets(), 0u);
}

TEST_F(WatcherTest, ARemovedTargetHearsNoMore) {
  watch_.Start(1, kAll);
  watch_.Start(2, kAll);
  watch_.watcher().RemoveTarget(1);
  EXPECT_TRUE(client().AwaitRemoved(1).ok());
  EXPECT_EQ(test_.engine().live_targets(), 1u);
  watch_.watcher().RemoveTarget(77);  // It does not exist.
  const WatchSnapshot snapshot = client().AwaitSnapshot(Put("c/a", 1));
  EXPECT_FALSE(snapshot.targets.contains(1));
  EXPECT_THAT(snapshot.targets.at(2).Paths(), ElementsAre("c/a"));
  // The id can be used again.
  EXPECT_THAT(watch_.Start(1, kAll).Paths(), ElementsAre("c/a"));
}

TEST_F(WatcherTest, ATargetCanBeRemovedWhileItsResultsAreSent) {
  std::vector<request::Write> writes;
  for (int i = 0; i < 50; ++i) writes.push_back(SetNumber("c/d" + std::to_string(i), i));
  test_.MustCommit(std::move(writes));
  for (const bool of_documents : {false, true}) {
    const request::TargetId id = of_documents ? 2 : 1;
    const size_t before = client().Now().document_events;
    client().SetSpeed(Speed::kStopsWhenFull, 10);
    std::vector<std::string> paths;
    for (int i = 0; i < 50; ++i) paths.push_back("c/d" + std::to_string(i));
    of_documents ? watch_.AddDocuments(id, paths) : watch_.Add(id, kAll);
    client().Await([](const WatchClient::State& state) { return state.waits_for_reader; });
    watch_.watcher().RemoveTarget(id);
    client().SetSpeed(Speed::kReads);
    EXPECT_TRUE(client().AwaitRemoved(id).ok());
    EXPECT_LT(client().Now().document_events, before + 50);
    EXPECT_EQ(test_.engine().live_targets(), 0u);
  }
}

TEST_F(WatcherTest, ARequestThatCouldNotBeReadEndsItsTargetAlone) {
  watch_.Start(1, kAll);
  watch_.watcher().AddTarget(2, InvalidArgument("what?"));
  EXPECT_EQ(client().AwaitRemoved(2), InvalidArgument("what?"));
  EXPECT_THAT(watch_.At(1, Put("c/a", 1)).Paths(), ElementsAre("c/a"));
}

TEST_F(WatcherTest, AFailingStoreEndsTheTargetThatReadsIt) {
  Put("c/a", 1);
  watch_.Start(1, kAll);
  test_.store().FailScan(1, Status(Code::kUnavailable, "disk"));
  watch_.Add(2, kAll);
  EXPECT_EQ(client().AwaitRemoved(2).code(), Code::kUnavailable);
  EXPECT_EQ(test_.engine().live_targets(), 1u);
  EXPECT_THAT(watch_.At(1, Put("c/b", 1)).Paths(), ElementsAre("c/a", "c/b"));
}

TEST_F(WatcherTest, AWindowThatCannotBeReadAgainEndsTheStream) {
  for (int64_t n = 1; n <= 4; ++n) Put("c/d" + std::to_string(n), n);
  watch_.Start(1, kFirstTwo);
  test_.store().FailScan(1, Status(Code::kUnavailable, "disk"));
  test_.MustCommit(Delete("c/d1"));
  EXPECT_EQ(client().AwaitEnd().code(), Code::kUnavailable);
}

TEST_F(WatcherTest, AnIdInUseEndsTheStream) {
  watch_.Start(1, kAll);
  watch_.Add(1, kAll);
  EXPECT_EQ(client().AwaitEnd().code(), Code::kInvalidArgument);
}

TEST_F(WatcherTest, ThereIsABoundOnTargets) {
  const auto id_of = [](size_t number) { return static_cast<request::TargetId>(number); };
  client().SetSpeed(Speed::kStopped);  // One snapshot for all of them is enough.
  for (size_t id = 1; id <= watch::Watcher::kTargetsMax + 1; ++id)
    watch_.AddDocuments(id_of(id), {"c/a"});
  client().SetSpeed(Speed::kReads);
  EXPECT_EQ(client().AwaitRemoved(id_of(watch::Watcher::kTargetsMax + 1)).code(),
            Code::kResourceExhausted);
  EXPECT_EQ(test_.engine().live_targets(), watch::Watcher::kTargetsMax);
  watch_.watcher().RemoveTarget(1);
  watch_.AddDocuments(id_of(watch::Watcher::kTargetsMax + 2), {"c/a"});
  EXPECT_TRUE(client()
                  .AwaitSnapshotOf(id_of(watch::Watcher::kTargetsMax + 2))
                  .targets.contains(id_of(watch::Watcher::kTargetsMax)));
}

TEST_F(WatcherTest, CommitsThatFailAreNeverHeardOf) {
  watch_.Start(1, kAll);
  test_.store().FailCommit(1, Status(Code::kUnavailable, "disk"));
  EXPECT_FALSE(test_.Commit(SetNumber("c/a", 1)).ok());
  EXPECT_FALSE(test_.Commit(IfExists(SetNumber("c/b", 1))).ok());
  EXPECT_THAT(watch_.At(1, Put("c/c", 1)).Paths(), ElementsAre("c/c"));
  EXPECT_EQ(client().Now().document_events, 1u);
}

TEST_F(WatcherTest, WhatExpiresIsHeardOf) {
  const std::string expired =
      model::EncodeTimestamp(Timestamp::FromMicros(test_.now() - 1'000'000));
  test_.MustCommit(Set("c/a", MakeFields({{"until", expired}})));
  watch_.Start(1, kAll);
  ASSERT_TRUE(test_.engine()
                  .SetTtlPolicy(test_.database(),
                                index::TtlPolicy{"c", FieldAt("until"), std::chrono::seconds(0)})
                  .ok());
  test_.engine().AwaitIndexes();
  test_.engine().SweepExpired();
  client().Await([](const WatchClient::State& state) {
    return !state.snapshots.empty() && state.snapshots.back().targets.at(1).documents.empty();
  });
}

TEST_F(WatcherTest, SnapshotsGoForward) {
  watch_.Start(1, kAll);
  for (int64_t n = 0; n < 20; ++n) client().AwaitSnapshot(Put("c/a", n));
  const std::vector<WatchSnapshot> snapshots = client().TakeSnapshots();
  for (size_t i = 1; i < snapshots.size(); ++i) {
    EXPECT_LT(snapshots[i - 1].read_time, snapshots[i].read_time);
    EXPECT_LT(snapshots[i - 1].resume_token, snapshots[i].resume_token);
  }
}

TEST_F(WatcherTest, AHeartbeatSaysThatAllIsAsItWas) {
  watch_.Start(1, kAll);
  test_.Pass(watch::ChangeFeed::kHeartbeatPeriod);
  EXPECT_TRUE(client().AwaitSnapshot(Timestamp::FromMicros(test_.now())).targets.contains(1));
  EXPECT_EQ(client().Now().document_events, 0u);
}

TEST_F(WatcherTest, AfterCloseNothingIsSent) {
  watch_.Start(1, kAll);
  client().SetSpeed(Speed::kStopped);
  Put("c/a", 1);
  client().Await([](const WatchClient::State& state) { return state.waits_for_reader; });
  watch_.watcher().Close();
  EXPECT_EQ(test_.engine().live_targets(), 0u);
  client().SetSpeed(Speed::kReads);
  watch_.watcher().AddTarget(2, watch_.RequestFor(kAll));
  TestWatch other(test_);
  other.AwaitFeed();
  EXPECT_EQ(client().Now().document_events, 0u);
  EXPECT_FALSE(client().Now().targets.contains(2));
}

TEST(WatcherStrictTest, AMissingIndexEndsTheTarget) {
  EngineOptions options;
  options.index_mode = indexing::IndexMode::kStrict;
  TestEngine test(options);
  TestWatch watch(test);
  watch.Add(1, QueryBuilder("c").Equal("a").Descending("b"));
  EXPECT_EQ(watch.client().AwaitRemoved(1).code(), Code::kFailedPrecondition);
  watch.Start(2, kAll);
  EXPECT_THAT(watch.At(2, test.MustCommit(SetNumber("c/a", 1))).Paths(), ElementsAre("c/a"));
}

TEST(WatcherStrictTest, WhatFirestoreDoesNotListenToEndsTheTarget) {
  EngineOptions options;
  options.index_mode = indexing::IndexMode::kStrict;
  TestEngine test(options);
  TestWatch watch(test);
  watch.Add(1, QueryBuilder("").Group());
  EXPECT_EQ(watch.client().AwaitRemoved(1),
            InvalidArgument("All-collection queries are not supported by real-time queries."));
  watch.Add(2, QueryBuilder("c").Below("d/a").Group());
  EXPECT_EQ(watch.client().AwaitRemoved(2),
            InvalidArgument("'all_descendants' in CollectionSelector with document parent is not "
                            "supported by real-time queries."));
  watch.Start(3, QueryBuilder("c").Below("d/a"));
  watch.Start(4, QueryBuilder("c").Group());
  const Timestamp after = test.MustCommit(SetNumber("d/a/c/b", 1));
  EXPECT_THAT(watch.At(3, after).Paths(), ElementsAre("d/a/c/b"));
  EXPECT_THAT(watch.At(4, after).Paths(), ElementsAre("d/a/c/b"));
}

TEST(WatcherStrictTest, WhatHearthListensToInAddition) {
  TestEngine test;
  TestWatch watch(test);
  watch.Start(1, QueryBuilder("").Group());
  watch.Start(2, QueryBuilder("c").Below("d/a").Group());
  const Timestamp after = test.MustCommit(SetNumber("d/a/c/b", 1));
  EXPECT_THAT(watch.At(1, after).Paths(), ElementsAre("d/a/c/b"));
  EXPECT_THAT(watch.At(2, after).Paths(), ElementsAre("d/a/c/b"));
}

// The results are not read again, so nothing else would detect it.
TEST(WatcherStrictTest, AMissingIndexEndsATargetThatIsResumedToo) {
  EngineOptions options;
  options.index_mode = indexing::IndexMode::kStrict;
  TestEngine test(options);
  const Timestamp then = test.MustCommit(SetNumber("c/a", 1));
  TestWatch watch(test);
  watch.Add(1, QueryBuilder("c").Equal("a").Above("b"), request::TargetRequest::Resume{then});
  EXPECT_EQ(watch.client().AwaitRemoved(1).code(), Code::kFailedPrecondition);
}

// Their work continues while the engine shuts down, and may destroy them.
TEST(WatcherEndTest, TheEngineEndsWhileWatchersAreAtWork) {
  for (int round = 0; round < 20; ++round) {
    TestEngine test;
    std::vector<request::Write> writes;
    for (int i = 0; i < 100; ++i) writes.push_back(SetNumber("c/d" + std::to_string(i), i));
    test.MustCommit(std::move(writes));
    {
      TestWatch closed(test);
      TestWatch forgotten(test);
      for (request::TargetId id = 1; id <= 20; ++id) {
        closed.Add(id, kAll);
        forgotten.Add(id, kFirstTwo);
      }
      if (round % 2 == 0) closed.client().AwaitSnapshotOf(1);
      test.StartCommit({Delete("c/d0")});
      forgotten.Forget();
    }
    test.Close();
  }
}

}  // namespace
}  // namespace hearth::engine
