// Configurations and their effects: declared indexes, exemptions, strict mode.
#include "indexing/index_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/testing/gate.h"
#include "engine/testing/test_engine.h"
#include "query/testing/query_builder.h"

namespace hearth::engine {
namespace {

using index::Definition;
using index::FieldMode;
using index::IndexConfig;
using index::Origin;
using query::QueryBuilder;

EngineOptions Options(indexing::IndexMode mode) {
  EngineOptions options;
  options.index_mode = mode;
  options.reads_without_index_max = 10;
  return options;
}

Definition AB(FieldMode direction) {
  return {"rooms",
          index::QueryScope::kCollection,
          {{FieldAt("a"), FieldMode::kAscending}, {FieldAt("b"), direction}},
          direction == FieldMode::kDescending};
}
IndexConfig Declared(std::vector<Definition> definitions) {
  IndexConfig config;
  config.composites = std::move(definitions);
  return config;
}

class IndexPolicyTest : public testing::Test {
 protected:
  // Definitions and origins of the indexes, once no build is in progress.
  std::vector<std::pair<Definition, Origin>> Indexes(TestEngine& engine) {
    engine.engine().AwaitIndexes();
    std::vector<std::pair<Definition, Origin>> indexes;
    for (const index::Index& index : engine.engine().Indexes(engine.database())) {
      EXPECT_EQ(index.state, index::State::kReady);
      indexes.emplace_back(index.definition, index.origin);
    }
    std::sort(indexes.begin(), indexes.end());
    return indexes;
  }
  // The number of results of the query.
  Result<size_t> Run(TestEngine& engine, const QueryBuilder& query) {
    ASSIGN_OR_RETURN(const std::unique_ptr<QueryRun> run, engine.StartQuery(query.Build()).Take());
    size_t results = 0;
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<request::QueryResult> result, run->Next());
      if (!result) return results;
      ++results;
    }
  }
  void AddRooms(TestEngine& engine) {
    std::vector<request::Write> writes;
    for (int64_t i = 0; i < 200; ++i) {
      writes.push_back(
          Set("rooms/r" + std::to_string(i),
              MakeFields({{"a", model::EncodeInteger(i % 100)}, {"b", model::EncodeInteger(i)}})));
    }
    engine.MustCommit(std::move(writes));
  }

  const Definition up_ = AB(FieldMode::kAscending);
  const Definition down_ = AB(FieldMode::kDescending);
};

TEST_F(IndexPolicyTest, DeclaredIndexesAreMadeForWhatIsThere) {
  TestEngine engine;
  AddRooms(engine);
  engine.engine().SetIndexConfig("(default)", Declared({up_}));
  EXPECT_EQ(Indexes(engine), (std::vector{std::pair(up_, Origin::kDeclared)}));
  EXPECT_EQ(engine.engine().Indexes(engine.database())[0].activity->documents_indexed, 200u);
}

// The database is not opened again after its first commit.
TEST_F(IndexPolicyTest, DeclaredIndexesAreMadeForDatabasesThatComeLater) {
  TestEngine engine;
  engine.engine().SetIndexConfig("(default)", Declared({up_}));
  EXPECT_TRUE(Indexes(engine).empty());
  AddRooms(engine);
  engine.engine().SweepExpired();
  EXPECT_EQ(Indexes(engine), (std::vector{std::pair(up_, Origin::kDeclared)}));
}

TEST_F(IndexPolicyTest, AConfigurationIsForItsDatabaseOnly) {
  TestEngine engine;
  AddRooms(engine);
  engine.engine().SetIndexConfig("other", Declared({up_}));
  EXPECT_TRUE(Indexes(engine).empty());
}

TEST_F(IndexPolicyTest, WhatIsNotDeclaredAnyMoreIsReleased) {
  TestEngine engine;
  AddRooms(engine);
  engine.engine().SetIndexConfig("(default)", Declared({up_, down_}));
  EXPECT_EQ(Indexes(engine).size(), 2u);
  engine.engine().SetIndexConfig("(default)", Declared({down_}));
  EXPECT_EQ(Indexes(engine),
            (std::vector{std::pair(up_, Origin::kOnDemand), std::pair(down_, Origin::kDeclared)}));
  // Long unused: one is dropped, the other stays.
  engine.Pass(std::chrono::hours(24 * 8));
  EXPECT_EQ(Indexes(engine), (std::vector{std::pair(down_, Origin::kDeclared)}));
}

TEST_F(IndexPolicyTest, WhatIsNotThereYetIsReleasedToo) {
  TestEngine engine;
  AddRooms(engine);
  engine.engine().SetIndexConfig("(default)", Declared({up_}));
  engine.engine().SetIndexConfig("(default)", {});
  EXPECT_EQ(Indexes(engine), (std::vector{std::pair(up_, Origin::kOnDemand)}));
}

TEST_F(IndexPolicyTest, WhatIsBeingBuiltOnDemandCanBeDeclared) {
  TestEngine engine(Options(indexing::IndexMode::kAuto));
  AddRooms(engine);
  engine.store().SetNearlyFull(true);  // The build does not get on.
  ASSERT_TRUE(Run(engine, QueryBuilder("rooms").Ascending("a").Ascending("b").Limit(1)).ok());
  while (engine.engine().Indexes(engine.database()).empty()) std::this_thread::yield();
  engine.engine().SetIndexConfig("(default)", Declared({up_}));
  while (engine.engine().Indexes(engine.database())[0].origin != Origin::kDeclared) {
    std::this_thread::yield();
  }
  engine.store().SetNearlyFull(false);
  EXPECT_EQ(Indexes(engine), (std::vector{std::pair(up_, Origin::kDeclared)}));
}

// With the keeper of indexes at work on something else meanwhile.
TEST_F(IndexPolicyTest, WhatIsDeclaredBeforeItIsDroppedStays) {
  TestEngine engine(Options(indexing::IndexMode::kAuto));
  AddRooms(engine);
  ASSERT_TRUE(Run(engine, QueryBuilder("rooms").Ascending("a").Ascending("b").Limit(1)).ok());
  ASSERT_EQ(Indexes(engine), (std::vector{std::pair(up_, Origin::kOnDemand)}));
  const index::IndexNumber number = engine.engine().Indexes(engine.database())[0].number;

  Gate gate;
  gate.Close();
  engine.store().BeforeCommits([&] { gate.Pass(); });
  ASSERT_TRUE(Run(engine, QueryBuilder("rooms").Descending("a").Ascending("b").Limit(1)).ok());
  gate.AwaitArrivals(1);
  engine.Pass(std::chrono::hours(24 * 8));  // Long unused.
  engine.engine().SetIndexConfig("(default)", Declared({up_}));
  gate.Open();
  engine.engine().AwaitIndexes();
  engine.store().RemoveHooks();
  const std::vector<index::Index> indexes = engine.engine().Indexes(engine.database());
  ASSERT_EQ(indexes.size(), 2u);
  EXPECT_EQ(indexes[0].number, number);
  EXPECT_EQ(indexes[0].origin, Origin::kDeclared);
}

TEST_F(IndexPolicyTest, WhatIsDeclaredWhileItIsBuiltComesBeforeWhatQueriesAskFor) {
  TestEngine engine(Options(indexing::IndexMode::kAuto));
  AddRooms(engine);
  Gate gate;
  gate.Close();
  bool is_other_first = false;
  engine.store().BeforeCommits([&] {
    gate.Pass();
    const std::vector<index::Index> indexes = engine.engine().Indexes(engine.database());
    if (indexes.size() > 1 && indexes[0].state != index::State::kReady) is_other_first = true;
  });
  ASSERT_TRUE(Run(engine, QueryBuilder("rooms").Ascending("a").Ascending("b").Limit(1)).ok());
  gate.AwaitArrivals(1);
  ASSERT_TRUE(Run(engine, QueryBuilder("rooms").Descending("a").Ascending("b").Limit(1)).ok());
  engine.engine().SetIndexConfig("(default)", Declared({up_}));
  gate.Open();
  engine.engine().AwaitIndexes();
  engine.store().RemoveHooks();
  const std::vector<index::Index> indexes = engine.engine().Indexes(engine.database());
  ASSERT_EQ(indexes.size(), 2u);
  EXPECT_EQ(indexes[0].definition, up_);
  EXPECT_FALSE(is_other_first);
}

TEST_F(IndexPolicyTest, APolicyOfAnotherFieldReleasesTheOldIndex) {
  TestEngine engine;
  const auto set = [&](const char* field) {
    const index::TtlPolicy policy{"rooms", FieldAt(field), std::chrono::seconds(0)};
    EXPECT_TRUE(engine.engine().SetTtlPolicy(engine.database(), policy).ok());
    engine.engine().AwaitIndexes();
  };
  set("a");
  set("b");
  ASSERT_EQ(Indexes(engine).size(), 2u);
  EXPECT_EQ(Indexes(engine)[0].second, Origin::kOnDemand);
  EXPECT_EQ(Indexes(engine)[1].second, Origin::kTtl);
}

TEST_F(IndexPolicyTest, WhatWasDeclaredBeforeTheRestartIsReleasedToo) {
  TestEngine engine;
  AddRooms(engine);
  engine.engine().SetIndexConfig("(default)", Declared({up_}));
  engine.engine().AwaitIndexes();
  engine.Restart();
  EXPECT_EQ(Indexes(engine), (std::vector{std::pair(up_, Origin::kOnDemand)}));
  engine.engine().SetIndexConfig("(default)", Declared({up_}));
  EXPECT_EQ(Indexes(engine), (std::vector{std::pair(up_, Origin::kDeclared)}));
}

TEST_F(IndexPolicyTest, ADatabasesOwnConfigurationCountsMoreThanThatOfItsId) {
  TestEngine engine;
  AddRooms(engine);
  engine.engine().SetIndexConfig("(default)", Declared({up_}));
  EXPECT_EQ(Indexes(engine), (std::vector{std::pair(up_, Origin::kDeclared)}));
  engine.engine().SetIndexConfig("projects/elsewhere/databases/(default)", {});
  EXPECT_EQ(Indexes(engine), (std::vector{std::pair(up_, Origin::kDeclared)}));
  engine.engine().SetIndexConfig(NameDatabase().text(), {});
  EXPECT_EQ(Indexes(engine), (std::vector{std::pair(up_, Origin::kOnDemand)}));
}

TEST_F(IndexPolicyTest, ExemptFieldsGetNoIndexOnDemand) {
  TestEngine engine(Options(indexing::IndexMode::kAuto));
  AddRooms(engine);
  IndexConfig config;
  config.overrides = {{"rooms", FieldAt("a"), {}}};
  engine.engine().SetIndexConfig("(default)", config);
  EXPECT_EQ(*Run(engine, QueryBuilder("rooms").Equal("a", 7)), 2u);
  EXPECT_TRUE(Indexes(engine).empty());
  engine.engine().SetIndexConfig("(default)", {});
  EXPECT_EQ(*Run(engine, QueryBuilder("rooms").Equal("a", 7)), 2u);
  ASSERT_EQ(Indexes(engine).size(), 1u);
  EXPECT_EQ(Indexes(engine)[0].second, Origin::kOnDemand);
}

TEST_F(IndexPolicyTest, StrictRefusesWhatHasNoIndexAndRemembersIt) {
  TestEngine engine(Options(indexing::IndexMode::kStrict));
  AddRooms(engine);
  const QueryBuilder query = QueryBuilder("rooms").Equal("a", 7).Ascending("b");
  const Status refused = Run(engine, query).status();
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_TRUE(refused.message().starts_with(
      "The query requires an index. You can create it here: https://console.firebase.google.com/"));
  engine.engine().SetIndexConfig("(default)", engine.engine().NeededIndexes(engine.database()));
  EXPECT_EQ(*Run(engine, query), 2u);
}

TEST_F(IndexPolicyTest, AutoRefusesNothing) {
  TestEngine engine(Options(indexing::IndexMode::kAuto));
  AddRooms(engine);
  EXPECT_EQ(*Run(engine, QueryBuilder("rooms").Equal("a", 7).Ascending("b")), 2u);
  EXPECT_EQ(engine.engine().NeededIndexes(engine.database()), Declared({up_}));
}

}  // namespace
}  // namespace hearth::engine
