#include "expiry/ttl_sweeper.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/testing/test_engine.h"

namespace hearth::engine {
namespace {

using index::TtlPolicy;
using std::chrono::seconds;

// The engine also sweeps by itself, so the tests do not assume which sweep deletes a document.
class TtlSweeperTest : public testing::Test {
 protected:
  std::string TimeIn(std::chrono::microseconds from_now) const {
    return model::EncodeTimestamp(model::Timestamp::FromMicros(engine_.now() + from_now.count()));
  }
  request::Write Expiring(std::string_view path, std::chrono::microseconds from_now) const {
    return Set(path, MakeFields({{"until", TimeIn(from_now)}}));
  }
  void SetPolicy(const std::string& collection, seconds offset = seconds(0)) {
    const TtlPolicy policy{collection, FieldAt("until"), offset};
    ASSERT_TRUE(engine_.engine().SetTtlPolicy(engine_.database(), policy).ok());
    engine_.engine().AwaitIndexes();
  }
  void Sweep() { engine_.engine().SweepExpired(); }
  bool Exists(std::string_view path) { return *engine_.GetNewest(path) != nullptr; }
  expiry::TtlStatus StatusOf(size_t policy = 0) {
    return engine_.engine().TtlStatuses(engine_.database()).at(policy);
  }

  TestEngine engine_;
};

TEST_F(TtlSweeperTest, DeletesWhatHasExpiredAndNothingElse) {
  engine_.MustCommit({Expiring("rooms/past", seconds(-1)), Expiring("rooms/now", seconds(0)),
                      Expiring("rooms/soon", seconds(1)), Expiring("halls/past", seconds(-1))});
  SetPolicy("rooms");
  Sweep();
  EXPECT_FALSE(Exists("rooms/past"));
  EXPECT_FALSE(Exists("rooms/now"));
  EXPECT_TRUE(Exists("rooms/soon"));
  EXPECT_TRUE(Exists("halls/past"));
  EXPECT_EQ(StatusOf().deleted, 2u);

  engine_.Pass(seconds(1));
  Sweep();
  EXPECT_FALSE(Exists("rooms/soon"));
  EXPECT_EQ(StatusOf().deleted, 3u);
}

TEST_F(TtlSweeperTest, AddsTheOffset) {
  engine_.MustCommit(Expiring("rooms/r1", seconds(-10)));
  SetPolicy("rooms", seconds(60));
  Sweep();
  EXPECT_TRUE(Exists("rooms/r1"));
  engine_.Pass(seconds(49));
  Sweep();
  EXPECT_TRUE(Exists("rooms/r1"));
  engine_.Pass(seconds(1));
  Sweep();
  EXPECT_FALSE(Exists("rooms/r1"));
}

TEST_F(TtlSweeperTest, TimesLongAgoAndBeforeTheEpochHaveExpired) {
  engine_.MustCommit(Expiring("rooms/r1", std::chrono::hours(-24 * 365 * 100)));
  SetPolicy("rooms", index::kTtlOffsetMax);
  Sweep();
  EXPECT_FALSE(Exists("rooms/r1"));
}

TEST_F(TtlSweeperTest, IgnoresWhatIsNoTimestamp) {
  const std::string past = TimeIn(seconds(-10));
  engine_.MustCommit({Set("rooms/number", MakeFields({{"until", model::EncodeInteger(5)}})),
                      Set("rooms/null", MakeFields({{"until", model::EncodeNull()}})),
                      Set("rooms/text", MakeFields({{"until", model::EncodeString("2001")}})),
                      Set("rooms/array", MakeFields({{"until", model::EncodeArray({past})}})),
                      Set("rooms/missing", MakeFields({{"other", past}}))});
  SetPolicy("rooms");
  Sweep();
  for (const char* path :
       {"rooms/number", "rooms/null", "rooms/text", "rooms/array", "rooms/missing"}) {
    EXPECT_TRUE(Exists(path)) << path;
  }
  EXPECT_EQ(StatusOf().deleted, 0u);
}

TEST_F(TtlSweeperTest, WhatIsPostponedStays) {
  engine_.MustCommit(Expiring("rooms/r1", seconds(5)));
  SetPolicy("rooms");
  engine_.MustCommit(Expiring("rooms/r1", seconds(20)));
  engine_.Pass(seconds(10));
  Sweep();
  EXPECT_TRUE(Exists("rooms/r1"));
  engine_.Pass(seconds(10));
  Sweep();
  EXPECT_FALSE(Exists("rooms/r1"));
}

// The change arrives after the sweeper has read the document.
TEST_F(TtlSweeperTest, WhatChangesMeanwhileStays) {
  SetPolicy("rooms");
  engine_.MustCommit(Expiring("rooms/r1", seconds(5)));
  const std::string transaction = engine_.Begin();
  ASSERT_TRUE(engine_.Get(request::InTransaction{transaction}, "rooms/r1").ok());  // Locks it.
  const request::Write postponed = Expiring("rooms/r1", seconds(3'600));
  engine_.clock().Advance(seconds(10));
  std::thread sweep([&] { Sweep(); });
  while (StatusOf().late.count() == 0) std::this_thread::yield();  // It has found the document.
  EXPECT_EQ(StatusOf().late, seconds(5));
  engine_.MustCommit(postponed, transaction);
  sweep.join();
  Sweep();
  EXPECT_TRUE(Exists("rooms/r1"));
  EXPECT_EQ(StatusOf().deleted, 0u);
  EXPECT_EQ(StatusOf().late.count(), 0);
}

// Lock waits do not expire while the engine closes.
TEST_F(TtlSweeperTest, ALockedDocumentDoesNotKeepTheEngineOpen) {
  SetPolicy("rooms");
  engine_.MustCommit(Expiring("rooms/r1", seconds(5)));
  ASSERT_TRUE(engine_.Get(request::InTransaction{engine_.Begin()}, "rooms/r1").ok());
  engine_.clock().Advance(seconds(10));
  while (StatusOf().late.count() == 0) std::this_thread::yield();  // By the engine's own sweep.
  engine_.Restart();
  Sweep();
  EXPECT_FALSE(Exists("rooms/r1"));
}

TEST_F(TtlSweeperTest, SweepsTheWholeCollectionGroup) {
  engine_.MustCommit({Expiring("seats/s1", seconds(-1)), Expiring("rooms/r1/seats/s1", seconds(-1)),
                      Expiring("rooms/r1/seats/s1/legs/l1/seats/s1", seconds(-1)),
                      Expiring("rooms/r1/seats/s2", seconds(100)),
                      Expiring("rooms/r1", seconds(-1))});
  SetPolicy("seats");
  Sweep();
  EXPECT_FALSE(Exists("seats/s1"));
  EXPECT_FALSE(Exists("rooms/r1/seats/s1"));
  EXPECT_FALSE(Exists("rooms/r1/seats/s1/legs/l1/seats/s1"));
  EXPECT_TRUE(Exists("rooms/r1/seats/s2"));
  EXPECT_TRUE(Exists("rooms/r1"));
}

TEST_F(TtlSweeperTest, EarlierTimesStillSeeWhatHasExpired) {
  const model::Timestamp before = engine_.MustCommit(Expiring("rooms/r1", seconds(5)));
  SetPolicy("rooms");
  engine_.Pass(seconds(10));
  Sweep();
  EXPECT_EQ(*engine_.Get(request::Now{}, "rooms/r1"), nullptr);
  EXPECT_NE(*engine_.Get(before, "rooms/r1"), nullptr);
}

TEST_F(TtlSweeperTest, WhatCouldNotBeDeletedIsTriedAgain) {
  SetPolicy("rooms");
  engine_.MustCommit({Expiring("rooms/r1", seconds(1)), Expiring("rooms/r2", seconds(4))});
  Sweep();
  EXPECT_TRUE(StatusOf().is_indexed);
  EXPECT_EQ(StatusOf().late.count(), 0);
  engine_.Pass(seconds(5));
  // The commits that would delete them fail, both in this sweep and in the engine's own.
  engine_.store().FailCommit(1, Status(Code::kResourceExhausted, "the disk is full"));
  Sweep();
  Sweep();
  EXPECT_FALSE(Exists("rooms/r1"));
  EXPECT_FALSE(Exists("rooms/r2"));
  EXPECT_EQ(StatusOf().late.count(), 0);
}

TEST_F(TtlSweeperTest, PoliciesSurviveARestartAndCanBeCleared) {
  SetPolicy("rooms", seconds(60));
  SetPolicy("halls");
  engine_.Restart();
  ASSERT_EQ(engine_.engine().TtlStatuses(engine_.database()).size(), 2u);
  EXPECT_EQ(StatusOf(1).policy, (TtlPolicy{"rooms", FieldAt("until"), seconds(60)}));
  ASSERT_TRUE(engine_.engine().ClearTtlPolicy(engine_.database(), "rooms").ok());
  EXPECT_EQ(engine_.engine().ClearTtlPolicy(engine_.database(), "rooms").code(), Code::kNotFound);
  engine_.Restart();
  engine_.MustCommit(Expiring("rooms/r1", seconds(-100)));
  Sweep();
  EXPECT_TRUE(Exists("rooms/r1"));
  EXPECT_EQ(engine_.engine().TtlStatuses(engine_.database()).size(), 1u);
}

TEST_F(TtlSweeperTest, APolicyThatWasSetComesBeforeTheConfigurations) {
  engine_.MustCommit(Expiring("rooms/r1", seconds(-100)));
  index::IndexConfig config;
  config.ttl_policies = {{"rooms", FieldAt("until"), seconds(1'000)}};
  engine_.engine().SetIndexConfig("(default)", config);
  EXPECT_EQ(StatusOf().policy.offset, seconds(1'000));
  EXPECT_EQ(engine_.engine().ClearTtlPolicy(engine_.database(), "rooms").code(),
            Code::kFailedPrecondition);
  SetPolicy("rooms", seconds(2'000));
  EXPECT_EQ(StatusOf().policy.offset, seconds(2'000));
  ASSERT_TRUE(engine_.engine().ClearTtlPolicy(engine_.database(), "rooms").ok());
  EXPECT_EQ(StatusOf().policy.offset, seconds(1'000));
}

TEST_F(TtlSweeperTest, ABacklogIsSweptWhileOthersCommit) {
  constexpr size_t kBacklog = 10'000;
  constexpr size_t kBatch = 500;
  SetPolicy("rooms");
  for (size_t i = 0; i < kBacklog; i += kBatch) {
    std::vector<request::Write> writes;
    for (size_t j = i; j < i + kBatch; ++j) {
      writes.push_back(Expiring("rooms/r" + std::to_string(j), seconds(5)));
    }
    engine_.MustCommit(std::move(writes));
  }
  engine_.clock().Advance(seconds(10));
  std::thread sweep([&] { Sweep(); });
  int64_t commits = 0;
  while (StatusOf().deleted < kBacklog) engine_.MustCommit(SetNumber("halls/h1", ++commits));
  sweep.join();
  EXPECT_GE(commits, 10);  // No commit has waited for the backlog.
  EXPECT_EQ(NumberOf(**engine_.GetNewest("halls/h1")), commits);
  EXPECT_EQ(StatusOf().deleted, kBacklog);
  EXPECT_FALSE(Exists("rooms/r0"));
  EXPECT_FALSE(Exists("rooms/r9999"));
}

TEST_F(TtlSweeperTest, ABacklogDoesNotKeepOtherPoliciesWaiting) {
  constexpr size_t kPerTurn = expiry::TtlSweeper::kStepsPerTurn * expiry::SweepPace::kIdleStepMax;
  SetPolicy("rooms");
  SetPolicy("walls");
  std::vector<request::Write> writes = {Expiring("walls/w1", seconds(5))};
  for (size_t i = 0; i < 4 * kPerTurn; ++i) {
    writes.push_back(Expiring("rooms/r" + std::to_string(i), seconds(5)));
  }
  engine_.MustCommit(std::move(writes));
  uint64_t rooms_left_then = 0;
  bool is_wall_gone = false;
  engine_.store().AfterCommits([&] {
    if (is_wall_gone || Exists("walls/w1")) return;
    is_wall_gone = true;
    rooms_left_then = 4 * kPerTurn - StatusOf(0).deleted;
  });
  engine_.clock().Advance(seconds(10));
  Sweep();
  engine_.store().RemoveHooks();
  EXPECT_FALSE(Exists("walls/w1"));
  EXPECT_FALSE(Exists("rooms/r0"));
  EXPECT_GE(rooms_left_then, 2 * kPerTurn);
}

}  // namespace
}  // namespace hearth::engine
