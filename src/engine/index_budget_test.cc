// Indexes on demand: what queries can make writes cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "engine/testing/nearest.h"
#include "engine/testing/test_engine.h"
#include "expiry/ttl_sweeper.h"
#include "index/index_config.h"
#include "indexing/on_demand_budget.h"
#include "query/testing/query_builder.h"

namespace hearth::engine {
namespace {

using index::Definition;
using index::FieldMode;
using index::Index;
using index::Origin;
using indexing::OnDemandBudget;
using query::QueryBuilder;
using testing::Contains;
using testing::Not;

constexpr size_t kFields = 26;
constexpr size_t kRooms = 30;

std::string FieldName(size_t i) { return std::string(1, static_cast<char>('a' + i)); }

class IndexBudgetTest : public testing::Test {
 protected:
  static EngineOptions Options() {
    EngineOptions options;
    options.reads_without_index_max = 10;
    return options;
  }
  // With kFields fields.
  static request::Write Room(size_t i, int64_t value) {
    FieldMap fields;
    for (size_t field = 0; field < kFields; ++field) {
      fields[FieldName(field)] = model::EncodeInteger(value * 31 + static_cast<int64_t>(field));
    }
    return Set("rooms/r" + std::to_string(i), MakeFields(fields));
  }
  void AddRooms() {
    std::vector<request::Write> writes;
    for (size_t i = 0; i < kRooms; ++i) writes.push_back(Room(i, static_cast<int64_t>(i)));
    test_.MustCommit(std::move(writes));
  }
  // Runs the query to its end; returns what it read.
  uint64_t Run(const QueryBuilder& query) {
    const auto run = test_.StartQuery(query.Build()).Take();
    EXPECT_TRUE(run.ok()) << run.status().ToString();
    while (*(*run)->Next()) {
    }
    return (*run)->statistics().documents_scanned + (*run)->statistics().index_entries_scanned;
  }
  // A query that reads many documents for one result, and needs its own index.
  static QueryBuilder Sorted(const std::string& first, const std::string& second) {
    return QueryBuilder("rooms").Ascending(first).Ascending(second).Limit(1);
  }
  std::vector<Index> Indexes() {
    test_.engine().AwaitIndexes();
    return test_.engine().Indexes(test_.database());
  }
  std::vector<std::string> Described() {
    std::vector<std::string> described;
    for (const Index& index : Indexes()) described.push_back(index::Properties(index.definition));
    return described;
  }
  size_t Entries() {
    const auto snapshot = test_.store().NewSnapshot();
    const auto cursor = snapshot->Scan(storage::Space::kIndexes, {}, storage::Direction::kForward);
    size_t entries = 0;
    for (; cursor->Valid(); cursor->Next()) ++entries;
    return entries;
  }

  // Queries until no more indexes may be built for them.
  void UseUpTheBudget() {
    for (size_t round = 0; round < OnDemandBudget::kSightingsMin; ++round) {
      for (size_t first = 0; first < 6; ++first) {
        for (size_t second = 0; second < 6; ++second) {
          if (first != second) Run(Sorted(FieldName(first), FieldName(second)));
        }
      }
    }
    ASSERT_EQ(Indexes().size(), budget_.entries_per_write_max);
  }

  TestEngine test_{Options()};
  const indexing::OnDemandBudgetOptions budget_{};
};

// Every ordered pair of fields, once each: as many sort orders as a curious stranger needs seconds.
TEST_F(IndexBudgetTest, ABurstOfSortOrdersHardlyCostsWrites) {
  AddRooms();
  size_t orders = 0;
  for (size_t first = 0; first < kFields; ++first) {
    for (size_t second = 0; second < kFields; ++second) {
      if (first == second) continue;
      Run(Sorted(FieldName(first), FieldName(second)));
      ++orders;
    }
  }
  EXPECT_GE(orders, 624u);
  EXPECT_LE(Indexes().size(), budget_.prompt_entries_per_write_max);
  const size_t before = Entries();
  test_.MustCommit(Room(kRooms, 999));
  EXPECT_LE(Entries() - before, budget_.prompt_entries_per_write_max);
}

TEST_F(IndexBudgetTest, EvenRepeatedSortOrdersStayWithinTheBudget) {
  AddRooms();
  for (size_t round = 0; round < OnDemandBudget::kSightingsMin; ++round) {
    for (size_t first = 0; first < 8; ++first) {
      for (size_t second = 0; second < 8; ++second) {
        if (first != second) Run(Sorted(FieldName(first), FieldName(second)));
      }
    }
  }
  EXPECT_EQ(Indexes().size(), budget_.entries_per_write_max);
  const size_t before = Entries();
  test_.MustCommit(Room(kRooms, 999));
  EXPECT_EQ(Entries() - before, budget_.entries_per_write_max);
}

TEST_F(IndexBudgetTest, TheFirstIndexesAreBuiltForTheFirstQuery) {
  AddRooms();
  EXPECT_GE(Run(Sorted("a", "b")), kRooms);
  EXPECT_THAT(Described(), Contains("(a ASC, b ASC, __name__ ASC)"));
  EXPECT_LE(Run(Sorted("a", "b")), 2u);
}

TEST_F(IndexBudgetTest, AUsefulIndexStaysAndAUselessOneGivesWay) {
  AddRooms();
  // Fills the budget.
  for (size_t round = 0; round < OnDemandBudget::kSightingsMin; ++round) {
    for (size_t i = 0; i < budget_.entries_per_write_max; ++i) {
      Run(Sorted("a", FieldName(i + 1)));
      test_.engine().AwaitIndexes();
    }
  }
  ASSERT_EQ(Indexes().size(), budget_.entries_per_write_max);
  test_.Pass(std::chrono::hours(30));
  // All but one of them are used every day.
  for (size_t i = 1; i < budget_.entries_per_write_max; ++i) {
    for (size_t use = 0; use < 50; ++use) Run(Sorted("a", FieldName(i + 1)));
  }
  const std::string useless = "(a ASC, b ASC, __name__ ASC)";
  ASSERT_THAT(Described(), Contains(useless));
  for (size_t i = 0; i < OnDemandBudget::kSightingsMin + 2; ++i) Run(Sorted("x", "y"));
  const std::vector<std::string> described = Described();
  EXPECT_THAT(described, Contains("(x ASC, y ASC, __name__ ASC)"));
  EXPECT_THAT(described, Not(Contains(useless)));
  EXPECT_EQ(described.size(), budget_.entries_per_write_max);

  // The others are worth more than what the next one promises.
  test_.Pass(std::chrono::minutes(11));
  for (size_t use = 0; use < 50; ++use) Run(Sorted("x", "y"));
  for (size_t i = 0; i < OnDemandBudget::kSightingsMin; ++i) Run(Sorted("y", "x"));
  EXPECT_EQ(Described(), described);
}

TEST_F(IndexBudgetTest, OtherCollectionsHaveTheirOwnBudget) {
  AddRooms();
  for (size_t i = 0; i < 10; ++i) Run(Sorted("a", FieldName(i + 1)));
  std::vector<request::Write> writes;
  for (size_t i = 0; i < kRooms; ++i) {
    writes.push_back(SetNumber("users/u" + std::to_string(i), static_cast<int64_t>(i)));
  }
  test_.MustCommit(std::move(writes));
  Run(QueryBuilder("users").Equal("n", 3));
  EXPECT_THAT(Described(), Contains("(n ASC, __name__ ASC)"));
}

TEST_F(IndexBudgetTest, DeclaredAndTtlIndexesAreBuiltWhateverTheBudget) {
  AddRooms();
  UseUpTheBudget();
  index::IndexConfig config;
  const Definition declared{
      "rooms",
      index::QueryScope::kCollection,
      {{FieldAt("y"), FieldMode::kAscending}, {FieldAt("z"), FieldMode::kAscending}}};
  config.composites = {declared};
  test_.engine().SetIndexConfig("(default)", config);
  ASSERT_EQ(test_.engine().SetTtlPolicy(test_.database(),
                                        {"rooms", FieldAt("until"), std::chrono::seconds(0)}),
            Status());
  size_t others = 0;
  for (const Index& index : Indexes()) {
    EXPECT_EQ(index.state, index::State::kReady);
    others += index.origin != Origin::kOnDemand;
  }
  EXPECT_EQ(others, 2u);
  const int64_t now = test_.now();
  test_.MustCommit(
      Set("rooms/old",
          MakeFields({{"until", model::EncodeTimestamp(model::Timestamp::FromMicros(now - 1))}})));
  EXPECT_EQ(test_.engine().SweepExpired(), 1u);
  EXPECT_LE(Run(Sorted("y", "z")), 2u);
}

TEST_F(IndexBudgetTest, VectorIndexesAreBuiltWhateverTheBudget) {
  AddRooms();
  UseUpTheBudget();
  for (size_t i = 0; i < kRooms; ++i) {
    const double x = static_cast<double>(i);
    test_.MustCommit(Set("rooms/v" + std::to_string(i),
                         MakeFields({{"v", model::EncodeVector(Components{x, 1, 0})}})));
  }
  index::IndexConfig config;
  config.vectors = {{"rooms", index::QueryScope::kCollection, {}, FieldAt("v"), 3, std::nullopt}};
  test_.engine().SetIndexConfig("(default)", config);
  const std::vector<Index> indexes = Indexes();
  EXPECT_EQ(indexes.size(), budget_.entries_per_write_max + 1);  // None had to give way.
  const auto vector = std::ranges::find(indexes, Origin::kDeclared, &Index::origin);
  ASSERT_NE(vector, indexes.end());
  EXPECT_EQ(vector->state, index::State::kReady);
  const NearestAnswer answer =
      FindNearest(test_, NearestQuery("rooms", {7, 1, 0}, 1, model::DistanceMeasure::kEuclidean));
  ASSERT_EQ(answer.results.size(), 1u);
  EXPECT_EQ(answer.results[0].first, "rooms/v7");
  ASSERT_EQ(answer.indexes.size(), 1u);
  EXPECT_EQ(answer.indexes[0].properties, index::Properties(vector->definition));
}

TEST_F(IndexBudgetTest, CostsAndEarningsAreCountedAndSurviveARestart) {
  AddRooms();
  Run(Sorted("a", "b"));
  ASSERT_EQ(Indexes().size(), 1u);
  for (size_t i = 0; i < 5; ++i) Run(Sorted("a", "b"));
  test_.MustCommit(Room(0, 77));
  const auto check = [&] {
    const Index index = Indexes().at(0);
    EXPECT_EQ(index.activity->uses, 5u);
    EXPECT_GE(index.activity->reads_saved, 5 * (kRooms - 3));
    EXPECT_EQ(index.activity->document_writes, 1u);
    EXPECT_EQ(index.activity->entries_written, 1u);
  };
  check();
  test_.Pass(std::chrono::hours(2));
  test_.engine().AwaitIndexes();
  test_.Restart();
  check();
}

}  // namespace
}  // namespace hearth::engine
