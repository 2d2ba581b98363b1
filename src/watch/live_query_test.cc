#include "watch/live_query.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "watch/testing/documents.h"

namespace hearth::watch {
namespace {

using model::EncodeArray;
using model::EncodeInteger;
using model::EncodeNull;
using model::EncodeReference;
using model::EncodeString;
using query::Operator;
using query::QueryBuilder;

bool Contains(const QueryBuilder& query, const std::string& path, const model::Record& record) {
  return Live(query)->Contains(Path(path), record);
}

TEST(LiveQueryTest, FiltersDecide) {
  const QueryBuilder query = QueryBuilder("c").Above("n", 3);
  EXPECT_TRUE(Contains(query, "c/a", Number(4)));
  EXPECT_FALSE(Contains(query, "c/a", Number(3)));
  EXPECT_FALSE(Contains(query, "c/a", RecordOf({{"n", EncodeString("4")}})));
  EXPECT_FALSE(Contains(query, "c/a", RecordOf({})));
  EXPECT_FALSE(Contains(query, "d/a", Number(4)));
  EXPECT_FALSE(Contains(query, "c/a/c/a", Number(4)));
}

TEST(LiveQueryTest, AMissingDocumentIsNoResult) {
  EXPECT_FALSE(Contains(QueryBuilder("c"), "c/a", nullptr));
  EXPECT_TRUE(Contains(QueryBuilder("c"), "c/a", RecordOf({})));
  EXPECT_EQ(Live(QueryBuilder("c"))->PlaceOf(Path("c/a"), nullptr), std::nullopt);
}

TEST(LiveQueryTest, OneOfSeveralConditionsIsEnough) {
  const QueryBuilder query = QueryBuilder("c").AnyOf(
      {QueryBuilder("c").Equal("n", 1), QueryBuilder("c").Contains("t", 2)});
  EXPECT_TRUE(Contains(query, "c/a", Number(1)));
  EXPECT_TRUE(Contains(query, "c/a", RecordOf({{"t", EncodeArray({EncodeInteger(2)})}})));
  EXPECT_FALSE(Contains(query, "c/a", Number(2)));
}

TEST(LiveQueryTest, ADocumentWithoutAnOrderedFieldIsNoResult) {
  EXPECT_FALSE(Contains(QueryBuilder("c").Ascending("m"), "c/a", Number(1)));
  EXPECT_TRUE(Contains(QueryBuilder("c").Ascending("n"), "c/a", Number(1)));
  EXPECT_TRUE(Contains(QueryBuilder("c").Ascending("n"), "c/a", RecordOf({{"n", EncodeNull()}})));
}

TEST(LiveQueryTest, CursorsIncludeOrExcludeTheirPlace) {
  const auto between = [](bool start_before, bool end_before) {
    return QueryBuilder("c")
        .Ascending("n")
        .Start({EncodeInteger(2)}, start_before)
        .End({EncodeInteger(4)}, end_before);
  };
  EXPECT_FALSE(Contains(between(true, false), "c/a", Number(1)));
  EXPECT_TRUE(Contains(between(true, false), "c/a", Number(2)));
  EXPECT_FALSE(Contains(between(false, false), "c/a", Number(2)));
  EXPECT_TRUE(Contains(between(false, true), "c/a", Number(3)));
  EXPECT_TRUE(Contains(between(false, false), "c/a", Number(4)));
  EXPECT_FALSE(Contains(between(false, true), "c/a", Number(4)));
  EXPECT_FALSE(Contains(between(true, false), "c/a", Number(5)));
}

TEST(LiveQueryTest, CursorsOfADescendingQueryStandTheOtherWayRound) {
  const QueryBuilder query = QueryBuilder("c")
                                 .Descending("n")
                                 .Start({EncodeInteger(4)}, true)
                                 .End({EncodeInteger(2)}, true);
  EXPECT_FALSE(Contains(query, "c/a", Number(5)));
  EXPECT_TRUE(Contains(query, "c/a", Number(4)));
  EXPECT_TRUE(Contains(query, "c/a", Number(3)));
  EXPECT_FALSE(Contains(query, "c/a", Number(2)));
}

TEST(LiveQueryTest, ACursorCanEndWithAName) {
  const QueryBuilder query =
      QueryBuilder("c")
          .Ascending("n")
          .Ascending("__name__")
          .Start({EncodeInteger(2), EncodeReference(TestDatabaseName().text() + "/documents/c/b")},
                 false);
  EXPECT_FALSE(Contains(query, "c/b", Number(2)));
  EXPECT_FALSE(Contains(query, "c/a", Number(2)));
  EXPECT_TRUE(Contains(query, "c/c", Number(2)));
  EXPECT_TRUE(Contains(query, "c/a", Number(3)));
}

TEST(LiveQueryTest, AGroupIsAtAnyDepth) {
  const QueryBuilder query = QueryBuilder("c").Group();
  EXPECT_TRUE(Contains(query, "c/a", Number(1)));
  EXPECT_TRUE(Contains(query, "x/y/c/a", Number(1)));
  EXPECT_FALSE(Contains(query, "c/y/x/a", Number(1)));
  EXPECT_FALSE(Contains(QueryBuilder("c").Below("x/y"), "c/a", Number(1)));
  EXPECT_TRUE(Contains(QueryBuilder("c").Below("x/y"), "x/y/c/a", Number(1)));
}

TEST(LiveQueryTest, WithoutACollectionEveryDocumentThereIsAResult) {
  EXPECT_TRUE(Contains(QueryBuilder("").Group(), "x/y/c/a", Number(1)));
  EXPECT_TRUE(Contains(QueryBuilder(""), "c/a", Number(1)));
  EXPECT_FALSE(Contains(QueryBuilder(""), "x/y/c/a", Number(1)));
  EXPECT_TRUE(Contains(QueryBuilder("").Below("x/y").Group(), "x/y/c/a", Number(1)));
  EXPECT_FALSE(Contains(QueryBuilder("").Below("x/z").Group(), "x/y/c/a", Number(1)));
}

TEST(LiveQueryTest, AChangeConcernsWhatItTakesAwayToo) {
  const auto query = Live(QueryBuilder("c").Equal("n", 1));
  EXPECT_TRUE(query->IsConcernedBy(ChangeOf("c/a", nullptr, Number(1))));
  EXPECT_TRUE(query->IsConcernedBy(ChangeOf("c/a", Number(1), Number(2))));
  EXPECT_TRUE(query->IsConcernedBy(ChangeOf("c/a", Number(1), nullptr)));
  EXPECT_FALSE(query->IsConcernedBy(ChangeOf("c/a", Number(2), Number(3))));
  EXPECT_FALSE(query->IsConcernedBy(ChangeOf("c/a", nullptr, Number(3))));
}

TEST(LiveQueryTest, PlacesSortAsResultsDo) {
  const auto query = Live(QueryBuilder("c").Ascending("n").Descending("m"));
  const auto place = [&](const std::string& id, int64_t n, int64_t m) {
    return *query->PlaceOf(Path("c/" + id),
                           RecordOf({{"m", EncodeInteger(m)}, {"n", EncodeInteger(n)}}));
  };
  const std::vector<std::string> places = {place("z", 1, 2), place("a", 1, 1), place("c", 2, 5),
                                           place("b", 2, 5), place("a", 3, 9)};
  for (size_t i = 1; i < places.size(); ++i) {
    EXPECT_TRUE(query->layout().Before(places[i - 1], places[i])) << i;
  }
}

TEST(LiveQueryTest, OnlyALimitOrAnOffsetMakesAWindow) {
  EXPECT_FALSE(Live(QueryBuilder("c").Ascending("n"))->HasWindow());
  EXPECT_TRUE(Live(QueryBuilder("c").Limit(3))->HasWindow());
  EXPECT_TRUE(Live(QueryBuilder("c").Offset(1))->HasWindow());
}

}  // namespace
}  // namespace hearth::watch
