// A disk that is nearly full: only commits that remove data are accepted, until there is space.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "engine/testing/test_engine.h"

namespace hearth::engine {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class NearlyFullTest : public testing::Test {
 protected:
  bool Exists(std::string_view path) { return *engine_.GetNewest(path) != nullptr; }

  // The index of the policy on `collection`; nullopt if there is none.
  std::optional<index::State> IndexOf(const std::string& collection) {
    for (const index::Index& index : engine_.engine().Indexes(engine_.database())) {
      if (index.definition.collection_id == collection) return index.state;
    }
    return std::nullopt;
  }
  void SetPolicy(const std::string& collection) {
    const index::TtlPolicy policy{collection, FieldAt("until"), seconds(0)};
    ASSERT_TRUE(engine_.engine().SetTtlPolicy(engine_.database(), policy).ok());
  }

  TestEngine engine_;
};

TEST_F(NearlyFullTest, DeletesAreAcceptedAndWritesAreNot) {
  engine_.MustCommit({SetNumber("c/a", 1), SetNumber("c/b", 1)});
  engine_.store().SetNearlyFull(true);
  EXPECT_EQ(engine_.Commit(SetNumber("c/c", 1)).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(engine_.Commit({Delete("c/a"), SetNumber("c/c", 1)}).status().code(),
            Code::kResourceExhausted);
  EXPECT_TRUE(Exists("c/a"));
  EXPECT_TRUE(engine_.Commit({Delete("c/a"), Delete("c/b")}).ok());
  EXPECT_FALSE(Exists("c/a"));
  EXPECT_FALSE(Exists("c/c"));

  engine_.store().SetNearlyFull(false);
  EXPECT_TRUE(engine_.Commit(SetNumber("c/c", 1)).ok());
}

// Refused writes share a group with accepted deletes.
TEST_F(NearlyFullTest, ARefusedWriteDoesNotAffectItsGroup) {
  Gate gate;
  engine_.MustCommit(SetNumber("c/a", 1));
  engine_.MustCommit(SetNumber("c/b", 1));
  engine_.store().SetNearlyFull(true);
  engine_.store().BeforeCommits([&] { gate.Pass(); });
  gate.Close();
  const TestEngine::Commits busy = engine_.StartCommit({Delete("c/a")});
  gate.AwaitArrivals(1);
  const TestEngine::Commits refused = engine_.StartCommit({SetNumber("c/c", 1)});
  const TestEngine::Commits accepted = engine_.StartCommit({Delete("c/b")});
  gate.Open();
  EXPECT_TRUE(busy.Take().ok());
  EXPECT_EQ(refused.Take().status().code(), Code::kResourceExhausted);
  EXPECT_TRUE(accepted.Take().ok());
  EXPECT_FALSE(Exists("c/b"));
}

TEST_F(NearlyFullTest, ExpiredDocumentsAreDeleted) {
  SetPolicy("rooms");
  engine_.engine().AwaitIndexes();
  const std::string until = model::EncodeTimestamp(model::Timestamp::FromMicros(engine_.now()));
  engine_.MustCommit(Set("rooms/r1", MakeFields({{"until", until}})));
  engine_.store().SetNearlyFull(true);
  engine_.clock().Advance(seconds(10));
  engine_.engine().SweepExpired();
  EXPECT_FALSE(Exists("rooms/r1"));
}

TEST_F(NearlyFullTest, IndexesAreDroppedButNotBuilt) {
  SetPolicy("halls");
  engine_.engine().AwaitIndexes();
  ASSERT_EQ(IndexOf("halls"), index::State::kReady);
  engine_.MustCommit(SetNumber("rooms/r1", 1));
  engine_.store().SetNearlyFull(true);
  SetPolicy("rooms");
  ASSERT_TRUE(engine_.engine().ClearTtlPolicy(engine_.database(), "halls").ok());
  // The dropping waits behind an attempt to build the other index, which must give way.
  while (IndexOf("halls")) {
    engine_.Pass(hours(24 * 30));
    std::this_thread::yield();
  }
  EXPECT_EQ(IndexOf("rooms"), index::State::kBuilding);

  engine_.store().SetNearlyFull(false);
  engine_.engine().AwaitIndexes();
  EXPECT_EQ(IndexOf("rooms"), index::State::kReady);
}

}  // namespace
}  // namespace hearth::engine
