#include "transactions/write_effect.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "query/testing/query_builder.h"
#include "request/testing/writes.h"

namespace hearth::transactions {
namespace {

using model::EncodeInteger;
using query::QueryBuilder;

bool Enters(const QueryBuilder& query, const request::Write& write) {
  const model::DatabaseName database = NameDatabase();
  return MayEnter(watch::LiveQuery(database, query.Build()), database, write);
}

const QueryBuilder kHighAndRed = QueryBuilder("c").Above("n", 5).Equal("red", 1);

TEST(WriteEffectTest, AReplacementTellsAll) {
  EXPECT_TRUE(Enters(QueryBuilder("c"), SetNumber("c/a", 1)));
  EXPECT_TRUE(Enters(QueryBuilder("c").Above("n", 5), SetNumber("c/a", 6)));
  EXPECT_FALSE(Enters(QueryBuilder("c").Above("n", 5), SetNumber("c/a", 5)));
  EXPECT_FALSE(Enters(QueryBuilder("c").Above("m", 5), SetNumber("c/a", 6)));
  EXPECT_FALSE(Enters(QueryBuilder("c").Ascending("m"), SetNumber("c/a", 6)));
  EXPECT_FALSE(Enters(QueryBuilder("other"), SetNumber("c/a", 6)));
  EXPECT_FALSE(Enters(QueryBuilder("c"), SetNumber("c/a/c/b", 6)));
  EXPECT_TRUE(Enters(QueryBuilder("c").Group(), SetNumber("c/a/c/b", 6)));
}

TEST(WriteEffectTest, AMergeTellsOfTheFieldsInItsMask) {
  const auto merge = [](int64_t n) { return Merge("c/a", NumberFields(n), {"n"}); };
  EXPECT_TRUE(Enters(kHighAndRed, merge(6)));  // It may be red already.
  EXPECT_FALSE(Enters(kHighAndRed, merge(5)));
  EXPECT_FALSE(Enters(kHighAndRed, Merge("c/a", {}, {"n"})));  // The field is removed.
  EXPECT_TRUE(Enters(kHighAndRed, Merge("c/a", {}, {"other"})));
  EXPECT_FALSE(Enters(QueryBuilder("c").Ascending("n"), Merge("c/a", {}, {"n"})));
  EXPECT_TRUE(Enters(QueryBuilder("c").Equal("n.deep"), Merge("c/a", {}, {"n.other"})));
  EXPECT_FALSE(Enters(QueryBuilder("c").Equal("n.deep"), Merge("c/a", {}, {"n"})));
  EXPECT_TRUE(Enters(QueryBuilder("c").Above("n", 5), Merge("c/a", {}, {"n.deep"})));
}

TEST(WriteEffectTest, OneDisjunctIsEnough) {
  EXPECT_TRUE(Enters(QueryBuilder("c").In("n", {1, 2}), SetNumber("c/a", 2)));
  EXPECT_FALSE(Enters(QueryBuilder("c").In("n", {1, 2}), SetNumber("c/a", 3)));
}

TEST(WriteEffectTest, WhatTransformsMakeIsUnknown) {
  request::Write write = SetNumber("c/a", 1);
  write.transforms = {Increment("n", 1)};
  EXPECT_TRUE(Enters(QueryBuilder("c").Above("n", 5), write));
  EXPECT_FALSE(Enters(QueryBuilder("c").Above("n", 5).Equal("m"), write));
  EXPECT_TRUE(Enters(QueryBuilder("c").Above("n", 5), Transform("c/a", {Increment("n", 1)})));
}

TEST(WriteEffectTest, WhatRemovesOrLeavesADocumentLetsNothingIn) {
  EXPECT_FALSE(Enters(QueryBuilder("c"), Delete("c/a")));
  request::Write verify = Delete("c/a");
  verify.kind = request::WriteKind::kVerify;
  EXPECT_FALSE(Enters(QueryBuilder("c"), verify));
}

TEST(WriteEffectTest, NamesAreKnown) {
  const auto named = [](const std::string& path) {
    return QueryBuilder("c").Where(
        "__name__", query::Operator::kEqual,
        model::EncodeReference("projects/p1/databases/(default)/documents/" + path));
  };
  EXPECT_TRUE(Enters(named("c/a"), Merge("c/a", {}, {"x"})));
  EXPECT_FALSE(Enters(named("c/b"), Merge("c/a", {}, {"x"})));
}

}  // namespace
}  // namespace hearth::transactions
