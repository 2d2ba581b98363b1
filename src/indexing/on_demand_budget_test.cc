#include "indexing/on_demand_budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "index/testing/definitions.h"

namespace hearth::indexing {
namespace {

using index::CollectionIndex;
using index::Definition;
using index::Entries;
using index::In;
using index::Index;
using index::IndexNumber;
using index::IndexSet;
using index::Up;
using model::DatabaseNumber;

constexpr int64_t kDay = OnDemandBudget::kHalfLifeMicros;
constexpr DatabaseNumber kDatabase{1};

class OnDemandBudgetTest : public testing::Test {
 protected:
  static Definition On(const std::string& field, const std::string& collection = "rooms") {
    return CollectionIndex(collection, {Up(field)});
  }
  Index& Add(const Definition& definition, DatabaseNumber database = kDatabase) {
    indexes_.push_back({IndexNumber{static_cast<uint32_t>(indexes_.size() + 1)}, database,
                        definition, index::State::kReady, index::Origin::kOnDemand,
                        std::make_shared<index::Activity>()});
    indexes_.back().activity->scored_at_micros = now_;
    return indexes_.back();
  }
  OnDemandBudget::Decision Ask(const Definition& definition, uint64_t reads = 1'000,
                               DatabaseNumber database = kDatabase) {
    return budget_.Decide(IndexSet(indexes_), {database, definition, {}, reads}, now_);
  }
  // The need is seen as often as it has to be.
  OnDemandBudget::Decision AskOften(const Definition& definition, uint64_t reads = 1'000,
                                    DatabaseNumber database = kDatabase) {
    for (size_t i = 1; i < OnDemandBudget::kSightingsMin; ++i) {
      EXPECT_FALSE(Ask(definition, reads, database).build);
    }
    return Ask(definition, reads, database);
  }
  void Fill(size_t count) {
    for (size_t i = 0; i < count; ++i) Add(On("f" + std::to_string(i)));
  }

  OnDemandBudgetOptions options_{.entries_per_write_max = 6,
                                 .prompt_entries_per_write_max = 2,
                                 .indexes_of_database_max = 10,
                                 .indexes_max = 20};
  OnDemandBudget budget_{options_};
  int64_t now_ = 100 * kDay;
  std::vector<Index> indexes_;
};

TEST_F(OnDemandBudgetTest, TheFirstAreBuiltAtOnceAndOnce) {
  const OnDemandBudget::Decision first = Ask(On("a"));
  EXPECT_EQ(first.build, On("a"));
  EXPECT_EQ(first.promise, 1'000);
  EXPECT_FALSE(Ask(On("a")).build);  // Being built.
  EXPECT_TRUE(Ask(On("b")).build);
  EXPECT_FALSE(Ask(On("c")).build);
  budget_.EndBuild(kDatabase, On("a"));
  Add(On("a"));
  EXPECT_FALSE(Ask(On("a")).build);  // Exists.
  EXPECT_FALSE(Ask(On("d")).build);
}

TEST_F(OnDemandBudgetTest, AnIndexCountsOnceWhileItIsBuilt) {
  ASSERT_TRUE(Ask(On("a")).build);
  Add(On("a")).state = index::State::kBuilding;
  EXPECT_TRUE(Ask(On("b")).build);
}

TEST_F(OnDemandBudgetTest, LaterOnesAreBuiltWhenTheirNeedIsSeenAgainOrIsLarge) {
  Fill(options_.prompt_entries_per_write_max);
  EXPECT_EQ(AskOften(On("a"), 1'000).promise,
            static_cast<int64_t>(1'000 * OnDemandBudget::kSightingsMin));
  EXPECT_TRUE(Ask(On("b"), OnDemandBudget::kLargeReads).build);
}

TEST_F(OnDemandBudgetTest, AFullBudgetRefusesWhatPromisesLess) {
  Fill(options_.entries_per_write_max);
  for (const Index& index : indexes_) index.activity->reads_saved = 100'000;
  EXPECT_FALSE(AskOften(On("a")).build);
  // Other collections have a budget of their own.
  EXPECT_TRUE(Ask(On("a", "users")).build);
}

TEST_F(OnDemandBudgetTest, AFullBudgetIsLoggedOnceForEachDatabase) {
  constexpr char kWarning[] = "the budget for indexes created on demand is used up";
  const auto fill = [this](DatabaseNumber database) {
    for (size_t i = 0; i < options_.entries_per_write_max; ++i) {
      Add(On("f" + std::to_string(i)), database).activity->reads_saved = 100'000;
    }
  };
  const auto warnings = [&](DatabaseNumber database) {
    testing::internal::CaptureStderr();
    for (const char* field : {"a", "b", "c"}) {
      EXPECT_FALSE(AskOften(On(field), 1'000, database).build);
    }
    const std::string log = testing::internal::GetCapturedStderr();
    size_t count = 0;
    for (size_t at = log.find(kWarning); at != std::string::npos; at = log.find(kWarning, at + 1)) {
      ++count;
    }
    return count;
  };
  const DatabaseNumber other{2};
  fill(kDatabase);
  fill(other);
  EXPECT_EQ(warnings(kDatabase), 1u);
  EXPECT_EQ(warnings(kDatabase), 0u);
  EXPECT_EQ(warnings(other), 1u);
  budget_.Forget(kDatabase);  // It was deleted; another one may get its number.
  EXPECT_EQ(warnings(kDatabase), 1u);
}

TEST_F(OnDemandBudgetTest, TheLeastUsefulOneGivesWay) {
  Fill(options_.entries_per_write_max);
  for (const Index& index : indexes_) index.activity->reads_saved = 100'000;
  indexes_[3].activity->reads_saved = 50;
  const OnDemandBudget::Decision decision = AskOften(On("a"));
  EXPECT_TRUE(decision.build);
  EXPECT_EQ(decision.drop, std::vector{indexes_[3].number});
}

TEST_F(OnDemandBudgetTest, WritesCountAgainstAnIndex) {
  Fill(options_.entries_per_write_max);
  for (const Index& index : indexes_) index.activity->reads_saved = 100'000;
  indexes_[2].activity->entries_written = 30'000;
  EXPECT_EQ(AskOften(On("a")).drop, std::vector{indexes_[2].number});
}

TEST_F(OnDemandBudgetTest, EarningsFade) {
  Index& index = Add(On("a"));
  index.activity->reads_saved = 8'000;
  EXPECT_EQ(budget_.Usefulness(index, now_), 8'000);
  EXPECT_EQ(budget_.Usefulness(index, now_ + 3 * kDay), 1'000);
  index.activity->reads_saved += 500;
  EXPECT_EQ(budget_.Usefulness(index, now_ + 3 * kDay), 1'500);
}

TEST_F(OnDemandBudgetTest, ANewIndexIsNotDisplacedAtOnce) {
  Fill(options_.entries_per_write_max);
  for (const Index& index : indexes_) index.activity->created_micros = now_;
  EXPECT_FALSE(AskOften(On("a"), 1'000'000 / 100).build);
  now_ += OnDemandBudget::kLifeMinMicros;
  EXPECT_TRUE(Ask(On("a")).build);
}

TEST_F(OnDemandBudgetTest, ExpensiveIndexesTakeMoreOfTheBudget) {
  Index& tags = Add(CollectionIndex("rooms", {In("tags")}));
  EXPECT_EQ(OnDemandBudget::EntriesPerWrite(tags), OnDemandBudget::kManyEntriesGuess);
  tags.activity->document_writes = OnDemandBudget::kMeasuredWritesMin;
  EXPECT_EQ(OnDemandBudget::EntriesPerWrite(tags), 1);  // Rarely changed.
  tags.activity->entries_written = 6 * OnDemandBudget::kMeasuredWritesMin;
  EXPECT_EQ(OnDemandBudget::EntriesPerWrite(tags), 6);
  tags.activity->reads_saved = 1'000'000;
  EXPECT_FALSE(AskOften(On("a")).build);
}

TEST_F(OnDemandBudgetTest, ADatabaseHasALimit) {
  for (size_t i = 0; i < options_.indexes_of_database_max; ++i) {
    Add(On("a", "c" + std::to_string(i))).activity->reads_saved = 100'000;
  }
  EXPECT_FALSE(AskOften(On("a")).build);
  EXPECT_TRUE(Ask(On("a"), 1'000, DatabaseNumber{2}).build);
}

// A stranger with many databases, each with many indexes, does not keep the others from theirs.
TEST_F(OnDemandBudgetTest, DatabasesWithManyIndexesGiveWayToThoseWithFew) {
  for (size_t i = 0; i < options_.indexes_max; ++i) {
    Add(On("a", "c" + std::to_string(i)), DatabaseNumber{static_cast<uint32_t>(2 + i % 2)})
        .activity->reads_saved = 1'000'000;
  }
  const OnDemandBudget::Decision decision = AskOften(On("a"));
  EXPECT_TRUE(decision.build);
  EXPECT_EQ(decision.drop.size(), 1u);
}

TEST_F(OnDemandBudgetTest, FieldsOfAMapShareAnIndex) {
  const Definition shared = CollectionIndex("rooms", {Entries("members")});
  const auto ask = [&](const std::string& key) {
    return budget_.Decide(IndexSet(indexes_), {kDatabase, On("members." + key), shared, 1'000},
                          now_);
  };
  std::vector<Definition> built;
  for (size_t i = 0; i < 10; ++i) {
    if (const auto build = ask("u" + std::to_string(i)).build) built.push_back(*build);
  }
  EXPECT_EQ(built, (std::vector{On("members.u0"), On("members.u1"), shared}));
}

TEST_F(OnDemandBudgetTest, WishesAreForgottenWhenThereAreTooMany) {
  Fill(options_.entries_per_write_max);
  for (const Index& index : indexes_) index.activity->reads_saved = 1'000'000'000;
  for (size_t i = 0; i < 3 * OnDemandBudget::kWishesOfDatabaseMax; ++i) {
    EXPECT_FALSE(Ask(On("g" + std::to_string(i)), 1'000 + i).build);
  }
  budget_.Forget(kDatabase);
  indexes_.clear();
  EXPECT_TRUE(Ask(On("a")).build);
}

// ---- A budget that turns out to be exceeded.

class ExcessTest : public OnDemandBudgetTest {
 protected:
  // An index that commits write `entries_per_write` entries to.
  Index& AddMeasured(const std::string& field, uint64_t entries_per_write, int64_t score) {
    Index& index = Add(On(field));
    index.activity->document_writes = OnDemandBudget::kMeasuredWritesMin;
    index.activity->entries_written = OnDemandBudget::kMeasuredWritesMin * entries_per_write;
    index.activity->scored_entries = index.activity->entries_written.load();
    index.activity->score = score;
    return index;
  }
  std::vector<IndexNumber> Excess() { return budget_.FindExcess(IndexSet(indexes_), now_); }
};

TEST_F(ExcessTest, WithinTheBudgetEverythingStays) {
  AddMeasured("a", 3, -1'000);
  AddMeasured("b", 3, -1'000);
  EXPECT_TRUE(Excess().empty());
}

TEST_F(ExcessTest, WhatCostsMoreThanItSavesIsDropped) {
  AddMeasured("a", 4, -1'000);
  AddMeasured("b", 5, 1'000);
  AddMeasured("c", 1, -1'000);
  EXPECT_EQ(Excess(), (std::vector<IndexNumber>{IndexNumber{1}}));
  indexes_[0].activity->created_micros = now_ - 1;  // Too young.
  EXPECT_EQ(Excess(), (std::vector<IndexNumber>{IndexNumber{3}}));
}

TEST_F(ExcessTest, FarBeyondTheBudgetUsefulIndexesAreDroppedTooAndBarred) {
  AddMeasured("a", 5'000, 1'000'000);
  AddMeasured("b", 2, 1'000);
  EXPECT_EQ(Excess(), (std::vector<IndexNumber>{IndexNumber{1}}));
  indexes_.erase(indexes_.begin());
  EXPECT_TRUE(Excess().empty());
  EXPECT_FALSE(AskOften(On("a"), OnDemandBudget::kLargeReads).build);
}

// Enough indexes for a sort that relies on an order which stays the same.
TEST_F(ExcessTest, CommitsGoOnCountingMeanwhile) {
  constexpr size_t kIndexes = 500;
  for (size_t i = 0; i < kIndexes; ++i) AddMeasured("f" + std::to_string(i), 1 + i % 7, -1'000);
  const IndexSet indexes(indexes_);
  std::atomic<bool> is_over = false;
  std::thread commits([&] {
    for (uint64_t n = 0; !is_over; ++n) {
      for (const Index& index : indexes_) {
        index.activity->entries_written += OnDemandBudget::kMeasuredWritesMin * (++n % 3'001);
      }
    }
  });
  for (int round = 0; round < 200; ++round) {
    const std::vector<IndexNumber> dropped = budget_.FindExcess(indexes, now_);
    EXPECT_FALSE(dropped.empty());
    EXPECT_EQ(std::set(dropped.begin(), dropped.end()).size(), dropped.size());
  }
  is_over = true;
  commits.join();
}

TEST_F(ExcessTest, DeclaredIndexesDoNotCount) {
  AddMeasured("a", 5'000, -1'000).origin = index::Origin::kDeclared;
  AddMeasured("b", 6, -1'000);
  EXPECT_TRUE(Excess().empty());
}

TEST_F(ExcessTest, BarredIndexesAreForgottenWithTheirDatabase) {
  budget_.Bar(kDatabase, On("a"));
  EXPECT_FALSE(Ask(On("a")).build);
  budget_.Forget(kDatabase);
  EXPECT_TRUE(Ask(On("a")).build);
}

}  // namespace
}  // namespace hearth::indexing
