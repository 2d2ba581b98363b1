// With the right index, what a query reads depends on its result and not on the size of the
// collection.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "engine/testing/test_engine.h"
#include "queries/asking.h"
#include "queries/brute_force.h"
#include "queries/index_check.h"

namespace hearth::queries {
namespace {

using engine::TestEngine;
using query::FieldFilter;
using query::Filter;
using query::Operator;
using query::SortDirection;

constexpr auto kUp = SortDirection::kAscending;
constexpr auto kDown = SortDirection::kDescending;

Filter Where(const std::string& field, Operator op, std::string value) {
  return {FieldFilter{FieldAt(field), op, std::move(value)}};
}

Filter Where(const std::string& field, Operator op, int64_t number) {
  return Where(field, op, model::EncodeInteger(number));
}

Filter All(std::vector<Filter> filters) {
  return {query::CompositeFilter{query::CompositeFilter::Operator::kAnd, std::move(filters)}};
}

Filter Any(std::vector<Filter> filters) {
  return {query::CompositeFilter{query::CompositeFilter::Operator::kOr, std::move(filters)}};
}

std::string Numbers(const std::vector<int64_t>& numbers) {
  std::vector<std::string> items;
  for (const int64_t number : numbers) items.push_back(model::EncodeInteger(number));
  return model::EncodeArray(items);
}

RandomQuery Ask(std::optional<Filter> where, std::vector<query::Order> orders,
                std::optional<size_t> limit = 10) {
  RandomQuery random{{.parent = Parent(), .collection_id = "c"}, {}};
  random.query.where = std::move(where);
  random.query.orders = std::move(orders);
  random.query.limit = limit;
  return random;
}

// `b` is different in all documents; the other fields have few values, regardless of the number of
// documents.
request::Write DocumentNumber(size_t number) {
  const auto n = static_cast<int64_t>(number);
  return Set("c/n" + std::to_string(number),
             MakeFields({{"a", model::EncodeInteger(n % 10)},
                         {"b", model::EncodeInteger(n)},
                         {"c", model::EncodeInteger(n * 7'919 % 1'000)},
                         {"t", Numbers({n % 5, n % 7})}}));
}

std::vector<RandomQuery> BoundedQueries(size_t documents) {
  const auto half = static_cast<int64_t>(documents / 2);
  const query::Order by_b{FieldAt("b"), kUp};
  const query::Order by_b_down{FieldAt("b"), kDown};
  const query::Order by_c{FieldAt("c"), kUp};
  const Filter a_is_3 = Where("a", Operator::kEqual, 3);
  const Filter has_2 = Where("t", Operator::kArrayContains, 2);
  std::vector<RandomQuery> queries = {
      Ask({}, {}),
      Ask({}, {{FieldAt("__name__"), kDown}}),
      Ask({}, {by_b}),
      Ask({}, {by_b_down}),
      Ask({}, {by_c, by_b_down}),
      Ask(a_is_3, {}),
      Ask(a_is_3, {by_b_down}),
      Ask(has_2, {by_b}),
      Ask(All({a_is_3, has_2}), {by_c}),
      Ask(Where("b", Operator::kGreater, half), {}),
      Ask(Where("b", Operator::kLess, half), {by_b_down}),
      Ask(Where("b", Operator::kNotEqual, half), {}),
      Ask(All({a_is_3, Where("b", Operator::kGreaterOrEqual, half)}), {by_b}),
      Ask(Where("a", Operator::kIn, Numbers({1, 2, 3})), {by_b}),
      Ask(Where("t", Operator::kArrayContainsAny, Numbers({1, 2})), {by_b_down}),
      Ask(Any({a_is_3, Where("c", Operator::kEqual, 5)}), {by_b}),
      Ask(Where("b", Operator::kEqual, half), {}, std::nullopt),
      Ask(All({Where("b", Operator::kGreater, half), Where("b", Operator::kLess, half + 20)}), {},
          std::nullopt),
  };
  const std::vector<RandomQuery> plain = queries;
  for (RandomQuery random : plain) {
    random.query.offset = 20;
    queries.push_back(random);
    random.query.all_descendants = true;
    queries.push_back(std::move(random));
  }
  for (const bool before : {true, false}) {
    RandomQuery random = Ask(a_is_3, {by_b});
    random.query.start = {{model::EncodeInteger(half)}, before};
    queries.push_back(std::move(random));
  }
  return queries;
}

class QueryCostTest : public testing::TestWithParam<size_t> {
 protected:
  QueryCostTest() : engine_(Options()) {
    ConfigureLog(LogLevel::kWarning, LogFormat::kText);
    for (size_t first = 0; first < GetParam(); first += 500) {
      std::vector<request::Write> writes;
      for (size_t n = first; n < std::min(first + 500, GetParam()); ++n) {
        writes.push_back(DocumentNumber(n));
      }
      engine_.MustCommit(std::move(writes));
    }
  }

  static engine::EngineOptions Options() {
    engine::EngineOptions options;
    options.reads_without_index_max = 1'000'000'000;
    options.indexes.step_documents_max = 100'000;
    options.indexes.step_bytes_max = 1'000'000'000;
    return options;
  }

  void MakeIndexesFor(const std::vector<RandomQuery>& queries) {
    const model::DatabaseNumber database = engine_.database().number;
    engine_.Close();
    for (const RandomQuery& random : queries) {
      ASSERT_TRUE(DeclareIndexes(UsefulIndexes(random), database, &engine_.store()).ok());
    }
    engine_.Restart();
    engine_.engine().AwaitIndexes();
  }

  std::unique_ptr<engine::QueryRun> Start(const RandomQuery& random) {
    using engine::QueryAnswer;
    return *engine_
                .StartQuery(*NormalizeRandom(random), request::Now{},
                            random.aggregations.empty() ? QueryAnswer::kDocuments
                                                        : QueryAnswer::kAggregates)
                .Take();
  }

  TestEngine engine_;
};

TEST_P(QueryCostTest, ReadsFollowResults) {
  const std::vector<RandomQuery> queries = BoundedQueries(GetParam());
  MakeIndexesFor(queries);
  for (const RandomQuery& random : queries) {
    const std::unique_ptr<engine::QueryRun> run = Start(random);
    size_t results = 0;
    while (true) {
      const auto next = run->Next();
      ASSERT_TRUE(next.ok()) << Show(random.query);
      if (!*next) break;
      ++results;
    }
    const query::Statistics statistics = run->statistics();
    const uint64_t reads = statistics.documents_scanned + statistics.index_entries_scanned;
    EXPECT_LE(reads, 3 * (results + random.query.offset) + 20) << Show(random.query);
    EXPECT_EQ(statistics.results_returned, results) << Show(random.query);
  }
}

TEST_P(QueryCostTest, CountsReadNoDocuments) {
  std::vector<RandomQuery> queries = {Ask({}, {}, std::nullopt),
                                      Ask(Where("a", Operator::kEqual, 3), {}, std::nullopt),
                                      Ask(Where("b", Operator::kGreater, 50), {}, std::nullopt)};
  for (RandomQuery& random : queries) {
    random.aggregations = {{query::Aggregation::Kind::kCount, "count", {}, {}},
                           {query::Aggregation::Kind::kSum, "sum", FieldAt("b"), {}}};
  }
  MakeIndexesFor(queries);
  for (const RandomQuery& random : queries) {
    const std::unique_ptr<engine::QueryRun> run = Start(random);
    const auto values = run->Aggregate(random.aggregations);
    ASSERT_TRUE(values.ok());
    const auto count = static_cast<uint64_t>(model::ValueView((*values)[0]).integer());
    EXPECT_EQ(run->statistics().documents_scanned, 0u) << Show(random.query);
    EXPECT_LE(run->statistics().index_entries_scanned, count + 2) << Show(random.query);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, QueryCostTest, testing::Values(size_t{100}, size_t{20'000}));

}  // namespace
}  // namespace hearth::queries
