// The numbers of Query Explain: every kind of plan counts each document and each index entry once,
// and the bill matches Firestore's.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "engine/query_run.h"
#include "engine/testing/nearest.h"
#include "engine/testing/test_engine.h"
#include "execution/sorter.h"
#include "query/testing/query_builder.h"

namespace hearth::engine {
namespace {

using index::Definition;
using index::FieldMode;
using index::QueryScope;
using model::EncodeInteger;
using query::Aggregation;
using query::QueryBuilder;

// The expected counts of a run.
struct Counts {
  uint64_t returned;
  uint64_t documents;
  uint64_t entries;
  uint64_t reads;  // As billed by Firestore.

  friend bool operator==(const Counts&, const Counts&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Counts& counts) {
    return out << counts.returned << " returned, " << counts.documents << " documents, "
               << counts.entries << " entries, " << counts.reads << " reads";
  }
};

struct Shape {
  std::string name;
  QueryBuilder query;
  Counts expected;
  std::vector<Aggregation> aggregations = {};
};

Definition On(const std::string& collection, const std::vector<std::string>& fields,
              QueryScope scope = QueryScope::kCollection) {
  Definition definition{collection, scope, {}, false};
  for (const std::string& field : fields) {
    definition.fields.push_back({FieldAt(field), FieldMode::kAscending});
  }
  return definition;
}

Aggregation Count(std::optional<size_t> up_to = std::nullopt) {
  return {Aggregation::Kind::kCount, "count", std::nullopt, up_to};
}
Aggregation Sum(const std::string& field) {
  return {Aggregation::Kind::kSum, "sum", FieldAt(field), std::nullopt};
}
Aggregation Average(const std::string& field) {
  return {Aggregation::Kind::kAverage, "average", FieldAt(field), std::nullopt};
}

// Twelve documents in each of three collections: `plain` has no index, `ready` has all that its
// queries need, `part` only some.
class QueryCountsTest : public testing::Test {
 protected:
  static constexpr int64_t kDocuments = 12;

  QueryCountsTest() {
    for (const char* collection : {"plain", "ready", "part"}) {
      for (int64_t n = 0; n < kDocuments; ++n) Put(collection, n);
    }
    Put("far/away/plain", 20);
    Put("far/away/ready", 20);
    index::IndexConfig config;
    config.composites = {On("ready", {}),         On("ready", {"a"}),
                         On("ready", {"b"}),      On("ready", {"n"}),
                         On("ready", {"s"}),      On("ready", {"a", "n"}),
                         On("ready", {"b", "n"}), On("ready", {"n"}, QueryScope::kCollectionGroup),
                         On("part", {"r"}),       On("part", {"s"}),
                         On("part", {"long"})};
    config.vectors = {
        {"ready", QueryScope::kCollection, {}, FieldAt("v"), 2, std::nullopt},
    };
    engine_.engine().SetIndexConfig("(default)", std::move(config));
    engine_.engine().AwaitIndexes();
  }

  void Put(const std::string& collection, int64_t n) {
    std::string id = std::to_string(100 + n);
    engine_.MustCommit(Set(collection + "/d" + id,
                           MakeFields({{"n", EncodeInteger(n)},
                                       {"a", EncodeInteger(n % 2)},
                                       {"b", EncodeInteger(n % 3)},
                                       {"r", EncodeInteger(n == 3 || n == 7 ? 1 : 0)},
                                       {"s", EncodeInteger(n == 3 || n == 5 ? 1 : 0)},
                                       {"long", model::EncodeString(std::string(2'000, 'x') + id)},
                                       {"v", model::EncodeVector({static_cast<double>(n), 1})}})));
  }

  std::unique_ptr<QueryRun> Start(const Shape& shape, const request::Consistency& consistency) {
    query::NormalizedQuery query = shape.query.Build();
    if (!shape.aggregations.empty()) {
      query = *query::Normalize(query.query, shape.aggregations);
    }
    return *engine_
                .StartQuery(
                    std::move(query), consistency,
                    shape.aggregations.empty() ? QueryAnswer::kDocuments : QueryAnswer::kAggregates)
                .Take();
  }

  Counts Run(const Shape& shape, const request::Consistency& consistency = request::Now{}) {
    const std::unique_ptr<QueryRun> run = Start(shape, consistency);
    if (!shape.aggregations.empty()) {
      EXPECT_TRUE(run->Aggregate(shape.aggregations).ok()) << shape.name;
    } else {
      while (true) {
        const Result<std::optional<request::QueryResult>> next = run->Next();
        EXPECT_TRUE(next.ok()) << shape.name << ": " << next.status().ToString();
        if (!next.ok() || !*next) break;
      }
    }
    const query::Statistics statistics = run->statistics();
    return {statistics.results_returned, statistics.documents_scanned,
            statistics.index_entries_scanned, run->bill().ReadOperations()};
  }

  void Check(const std::vector<Shape>& shapes,
             const request::Consistency& consistency = request::Now{}) {
    for (const Shape& shape : shapes) {
      EXPECT_EQ(Run(shape, consistency), shape.expected) << shape.name;
    }
  }

  TestEngine engine_;
};

TEST_F(QueryCountsTest, WithoutIndexes) {
  const auto plain = [] { return QueryBuilder("plain"); };
  Check({
      {"a scan", plain(), {12, 12, 0, 12}},
      {"a scan with a limit", plain().Limit(4), {4, 4, 0, 4}},
      {"a scan with an offset", plain().Offset(5).Limit(2), {2, 7, 0, 7}},
      {"a scan backwards, as of a limit to the last",
       plain().Descending("__name__").Limit(4),
       {4, 4, 0, 4}},
      {"a scan with a filter", plain().Equal("a"), {6, 12, 0, 6}},
      {"a scan of nothing", QueryBuilder("nothing"), {0, 0, 0, 1}},
      {"a scan without results", plain().Equal("a", 7), {0, 12, 0, 1}},
      {"no limit at all", plain().Limit(0), {0, 0, 0, 1}},
      {"a filter that nothing can pass", plain().Equal("a", 1).Equal("a", 2), {0, 0, 0, 1}},
      {"a sort", plain().Ascending("n"), {12, 12, 0, 12}},
      {"a sort with a limit", plain().Descending("n").Limit(3), {3, 12, 0, 3}},
      {"a sort with an offset", plain().Ascending("n").Offset(4).Limit(3), {3, 12, 0, 7}},
      {"a sort of a group", plain().Group().Ascending("n"), {13, 13, 0, 13}},
      {"a scan of a group", plain().Group(), {13, 13, 0, 13}},
      {"a group backwards", plain().Group().Descending("__name__").Limit(2), {2, 13, 0, 2}},
      {"an or", plain().AnyOf({plain().Equal("a"), plain().Equal("b")}), {8, 12, 0, 8}},
      {"two range fields", plain().Above("n", 3).Above("b", 0), {6, 12, 0, 6 + 1}},
      {"nearest neighbours", plain().Nearest("v", {3, 1}), {10, 12, 0, 10 + 1}},
      {"nearest of some", plain().Equal("a").Nearest("v", {3, 1}), {6, 12, 0, 6 + 1}},
      {"nearest of none", plain().Equal("a", 7).Nearest("v", {3, 1}), {0, 12, 0, 1}},
      {"a count", plain().Above("n", 3), {1, 12, 0, 1}, {Count()}},
      {"a count up to a number", plain(), {1, 5, 0, 1}, {Count(5)}},
      {"a count of nothing", plain().Equal("a", 7), {1, 12, 0, 1}, {Count()}},
      {"a sum", plain(), {1, 12, 0, 1}, {Sum("n")}},
      {"an average", plain().Equal("a"), {1, 12, 0, 1}, {Average("n"), Count()}},
  });
}

TEST_F(QueryCountsTest, WithIndexes) {
  const auto ready = [] { return QueryBuilder("ready"); };
  Check({
      {"an equality", ready().Equal("a"), {6, 6, 6, 6}},
      {"a range", ready().Above("n", 8), {3, 3, 3, 3}},
      {"an order", ready().Ascending("n"), {12, 12, 12, 12}},
      {"an order with a limit", ready().Ascending("n").Limit(5), {5, 5, 5, 5}},
      {"an order backwards, as of a limit to the last",
       ready().Descending("n").Limit(5),
       {5, 5, 5, 5}},
      {"no limit at all", ready().Ascending("n").Limit(0), {0, 0, 0, 1}},
      {"an offset", ready().Ascending("n").Offset(4).Limit(2), {2, 2, 6, 6}},
      {"an offset beyond the end", ready().Ascending("n").Offset(40), {0, 0, 12, 12}},
      {"nothing", ready().Equal("a", 7), {0, 0, 0, 1}},
      {"a composite index", ready().Equal("a").Ascending("n"), {6, 6, 6, 6}},
      {"a collection group", ready().Group().Ascending("n"), {13, 13, 13, 13}},
      // Those with b == 0 are 0, 3, 6 and 9; those with s == 1 are 3 and 5. The join starts with 0
      // and 3, moves on to 3, and to 6, after which there is no s.
      {"a join", ready().Equal("s").Equal("b", 0), {1, 1, 4, 1}},
      {"an or", ready().AnyOf({ready().Equal("a"), ready().Equal("b")}), {8, 8, 10, 8}},
      {"an or of ranges that overlap",
       ready().AnyOf({ready().Above("n", 7), ready().Above("n", 9)}),
       {4, 4, 4, 4}},
      {"in", ready().In("b", {0, 1}), {8, 8, 8, 8}},
      {"two range fields", ready().Above("n", 3).Above("b", 0), {6, 6, 8, 6 + 1}},
      {"nearest neighbours", ready().Nearest("v", {3, 1}), {10, 10, 12, 10 + 1}},
      {"a count", ready(), {1, 0, 12, 1}, {Count()}},
      {"a count up to a number", ready(), {1, 0, 5, 1}, {Count(5)}},
      {"a count with a limit", ready().Above("n", 3).Limit(3), {1, 0, 3, 1}, {Count()}},
      {"a count of nothing", ready().Equal("a", 7), {1, 0, 0, 1}, {Count()}},
      {"a sum of what the index has", ready(), {1, 0, 12, 1}, {Sum("n")}},
      {"an average of what the index has", ready().Equal("a"), {1, 0, 6, 1}, {Average("n")}},
  });
}

// Documents have to be read to decide whether they are results.
TEST_F(QueryCountsTest, WithIndexesThatHaveOnlySomeOfTheFields) {
  const auto part = [] { return QueryBuilder("part"); };
  Check({
      {"entries in order, documents decide", part().Equal("r").Equal("n", 3), {1, 2, 2, 1}},
      {"entries in another order", part().Equal("r").Ascending("n"), {2, 2, 2, 2}},
      {"entries in another order, with a limit",
       part().Equal("r").Descending("n").Limit(1),
       {1, 2, 2, 1}},
      {"a sum of what the index has not", part().Equal("r"), {1, 2, 2, 1}, {Sum("n")}},
      // Both branches read document 3, and the second one does not match it.
      {"an or of which documents decide",
       part().AnyOf({part().Equal("r").Equal("n", 3), part().Equal("s").Equal("n", 4)}),
       {1, 3, 4, 1}},
      {"an or whose branches are sorted",
       part().AnyOf({part().Equal("r"), part().Equal("s")}).Ascending("n"),
       {3, 3, 4, 3}},
      {"nearest of what documents decide",
       part().Equal("r").Equal("n", 3).Nearest("v", {3, 1}),
       {1, 2, 2, 1 + 1}},
  });
}

TEST_F(QueryCountsTest, ValuesThatEntriesHaveOnlyTheBeginningOf) {
  Check({
      {"an order", QueryBuilder("part").Ascending("long"), {12, 12, 12, 12}},
      {"a count", QueryBuilder("part").Ascending("long"), {1, 12, 12, 1}, {Count()}},
  });
}

TEST_F(QueryCountsTest, ASortInSeveralPasses) {
  constexpr int64_t kLargeDocuments = 40;
  constexpr size_t kBytes = 1'000'000;
  static_assert(kLargeDocuments * kBytes > execution::kSortBytesMax);
  for (int64_t i = 0; i < kLargeDocuments; ++i) {
    engine_.MustCommit(Set(
        "large/d" + std::to_string(i),
        MakeFields({{"text", model::EncodeString(std::string(kBytes, 'a') + std::to_string(i))}})));
  }
  Check({{"a sort", QueryBuilder("large").Ascending("text"), {40, 40, 0, 40}}});
}

TEST_F(QueryCountsTest, APastMoment) {
  const model::Timestamp then = engine_.MustCommit(SetNumber("other/document", 1));
  for (const char* collection : {"plain", "ready", "part"}) {
    const std::string path = collection;
    Put(collection, 50);
    engine_.MustCommit(Merge(path + "/d103", NumberFields(70), {"n"}));
    engine_.MustCommit(Delete(path + "/d105"));
  }
  const auto plain = [] { return QueryBuilder("plain"); };
  const auto ready = [] { return QueryBuilder("ready"); };
  const auto part = [] { return QueryBuilder("part"); };
  const std::string third = model::EncodeReference(NameDatabase().text() + "/documents/ready/d103");
  Check(
      {
          {"a scan", plain(), {12, 12, 0, 12}},
          {"a scan backwards", plain().Descending("__name__"), {12, 12, 0, 12}},
          {"a sort", plain().Ascending("n"), {12, 12, 0, 12}},
          // Entries of changed documents are skipped: 50 and 70 exist too.
          {"an order", ready().Ascending("n"), {12, 12, 12, 12}},
          {"an equality", ready().Equal("a"), {6, 6, 5, 6}},
          {"an or", ready().AnyOf({ready().Equal("a"), ready().Equal("b", 0)}), {8, 8, 9, 8}},
          {"a document by its name",
           ready().Where("__name__", query::Operator::kEqual, third),
           {1, 2, 0, 1}},
          {"entries in another order", part().Equal("r").Ascending("n"), {2, 3, 2, 2}},
          {"nearest neighbours", ready().Nearest("v", {3, 1}), {10, 10, 12, 10 + 1}},
          {"a count", ready().Equal("a"), {1, 2, 5, 1}, {Count()}},
      },
      then);
}

}  // namespace
}  // namespace hearth::engine
