#include "watch/target_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "watch/testing/documents.h"

namespace hearth::watch {
namespace {

using model::EncodeArray;
using model::EncodeDouble;
using model::EncodeInteger;
using query::QueryBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

class TargetIndexTest : public testing::Test {
 protected:
  // Numbers count from 1.
  void Add(Target target) {
    targets_.push_back(std::make_unique<Target>(std::move(target)));
    index_.Add(TargetNumber{targets_.size()}, kTestDatabase, *targets_.back());
  }
  void Add(const QueryBuilder& builder) { Add(Target(Live(builder))); }
  void Remove(size_t number) {
    index_.Remove(TargetNumber{number}, kTestDatabase, *targets_[number - 1]);
  }
  std::vector<size_t> Find(const Change& change) {
    std::vector<TargetNumber> found;
    index_.Find(change, &found);
    std::vector<size_t> numbers;
    for (const TargetNumber number : found) numbers.push_back(static_cast<size_t>(number));
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
  }
  std::vector<size_t> Find(const std::string& path, const model::Record& after) {
    return Find(ChangeOf(path, nullptr, after));
  }

  TargetIndex index_;
  std::vector<std::unique_ptr<Target>> targets_;
};

TEST_F(TargetIndexTest, EqualityPicksOutTheQueriesOfTheValue) {
  for (int64_t n = 1; n <= 3; ++n) Add(QueryBuilder("c").Equal("n", n));
  EXPECT_THAT(Find("c/a", Number(2)), ElementsAre(2));
  EXPECT_THAT(Find("c/a", Number(4)), IsEmpty());
  EXPECT_THAT(Find("d/a", Number(2)), IsEmpty());
  EXPECT_THAT(Find("c/a", RecordOf({{"n", EncodeDouble(3.0)}})), ElementsAre(3));
  EXPECT_THAT(Find("c/a", RecordOf({})), IsEmpty());
  EXPECT_THAT(Find("c/a", nullptr), IsEmpty());
}

TEST_F(TargetIndexTest, WhatADocumentWasCountsAsMuchAsWhatItIs) {
  for (int64_t n = 1; n <= 3; ++n) Add(QueryBuilder("c").Equal("n", n));
  EXPECT_THAT(Find(ChangeOf("c/a", Number(1), Number(3))), ElementsAre(1, 3));
  EXPECT_THAT(Find(ChangeOf("c/a", Number(1), nullptr)), ElementsAre(1));
}

TEST_F(TargetIndexTest, EachValueOfAnInLeadsToTheQuery) {
  Add(QueryBuilder("c").In("n", {1, 2}));
  EXPECT_THAT(Find("c/a", Number(1)), ElementsAre(1));
  EXPECT_THAT(Find("c/a", Number(2)), ElementsAre(1));
  EXPECT_THAT(Find("c/a", Number(3)), IsEmpty());
}

TEST_F(TargetIndexTest, ItemsOfArraysLeadToQueries) {
  Add(QueryBuilder("c").Contains("t", 5));
  Add(QueryBuilder("c").Equal("t", 5));
  const auto array = RecordOf({{"t", EncodeArray({EncodeInteger(4), EncodeInteger(5)})}});
  EXPECT_THAT(Find("c/a", array), ElementsAre(1));
  EXPECT_THAT(Find("c/a", RecordOf({{"t", EncodeInteger(5)}})), ElementsAre(2));
}

TEST_F(TargetIndexTest, FieldsOfMapsLeadToQueries) {
  Add(QueryBuilder("c").Equal("m.n", 1));
  Add(QueryBuilder("c").Equal("m.n.o", 1));
  Add(QueryBuilder("c").Contains("m.t", 1));
  Add(QueryBuilder("c").Where("m", query::Operator::kEqual,
                              model::EncodeMap({{"n", EncodeInteger(1)}})));
  const auto map_of = [](const std::string& name, const std::string& value) {
    return RecordOf({{"m", model::EncodeMap({{name, value}})}});
  };
  EXPECT_THAT(Find("c/a", map_of("n", EncodeInteger(1))), ElementsAre(1, 4));
  EXPECT_THAT(Find("c/a", map_of("n", model::EncodeMap({{"o", EncodeInteger(1)}}))),
              ElementsAre(2));
  EXPECT_THAT(Find("c/a", map_of("t", EncodeArray({EncodeInteger(1)}))), ElementsAre(3));
  EXPECT_THAT(Find("c/a", map_of("o", EncodeInteger(1))), IsEmpty());
  for (size_t number = 1; number <= 4; ++number) Remove(number);
  EXPECT_TRUE(index_.empty());
}

TEST_F(TargetIndexTest, OneConditionWithoutAValueMakesAQueryConcernedByAll) {
  Add(QueryBuilder("c").AnyOf({QueryBuilder("c").Equal("n", 1), QueryBuilder("c").Above("m", 1)}));
  Add(QueryBuilder("c").AnyOf({QueryBuilder("c").Equal("n", 1), QueryBuilder("c").Equal("m", 1)}));
  EXPECT_THAT(Find("c/a", Number(7)), ElementsAre(1));
  EXPECT_THAT(Find("c/a", Number(1)), ElementsAre(1, 2));
  EXPECT_THAT(Find("c/a", RecordOf({{"m", EncodeInteger(1)}})), ElementsAre(1, 2));
}

TEST_F(TargetIndexTest, CollectionsGroupsAndDatabases) {
  Add(QueryBuilder("c"));
  Add(QueryBuilder("c").Group());
  Add(QueryBuilder("c").Below("x/y"));
  Add(QueryBuilder("").Group());
  EXPECT_THAT(Find("c/a", Number(1)), ElementsAre(1, 2, 4));
  EXPECT_THAT(Find("x/y/c/a", Number(1)), ElementsAre(2, 3, 4));
  EXPECT_THAT(Find("x/z/c/a", Number(1)), ElementsAre(2, 4));
  EXPECT_THAT(Find("d/a", Number(1)), ElementsAre(4));
}

TEST_F(TargetIndexTest, DocumentsByTheirNames) {
  Add(Target(DocumentSet{Path("c/a"), Path("c/b")}));
  Add(Target(DocumentSet{Path("c/b")}));
  EXPECT_THAT(Find("c/a", Number(1)), ElementsAre(1));
  EXPECT_THAT(Find(ChangeOf("c/b", Number(1), nullptr)), ElementsAre(1, 2));
  EXPECT_THAT(Find("c/c", Number(1)), IsEmpty());
}

TEST_F(TargetIndexTest, AnotherDatabaseIsNobodysBusiness) {
  Add(QueryBuilder("c"));
  Add(Target(DocumentSet{Path("c/a")}));
  Change change = ChangeOf("c/a", nullptr, Number(1));
  change.database = model::DatabaseNumber{2};
  EXPECT_THAT(Find(change), IsEmpty());
}

TEST_F(TargetIndexTest, RemovalLeavesNothingBehind) {
  Add(QueryBuilder("c").Equal("n", 1));
  Add(QueryBuilder("c").Equal("n", 1));
  Add(QueryBuilder("c").In("n", {1, 2}));
  // Both branches of the second condition start with the same value.
  Add(QueryBuilder("c").Equal("n", 1).AnyOf(
      {QueryBuilder("c").Equal("m", 1), QueryBuilder("c").Equal("m", 2)}));
  Add(QueryBuilder("c").Group());
  Add(QueryBuilder("c").Contains("t", 1));
  Add(QueryBuilder("c").Above("n", 0));
  // Nothing matches this one.
  Add(QueryBuilder("c").Where("n", query::Operator::kLess, model::EncodeNull()));
  Add(Target(DocumentSet{Path("c/a"), Path("c/b")}));
  Add(Target(DocumentSet{}));
  EXPECT_FALSE(index_.empty());
  Remove(1);
  EXPECT_THAT(Find("c/a", Number(1)), ElementsAre(2, 3, 4, 5, 7, 9));
  for (size_t number = 2; number <= targets_.size(); ++number) Remove(number);
  EXPECT_THAT(Find("c/a", Number(1)), IsEmpty());
  EXPECT_TRUE(index_.empty());
}

}  // namespace
}  // namespace hearth::watch
