// Faults that the differential test has found, each reduced to a minimum.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "queries/asking.h"
#include "queries/brute_force.h"
#include "queries/index_check.h"
#include "request/testing/writes.h"

namespace hearth::queries {
namespace {

using index::Definition;
using index::FieldMode;
using model::ValueType;
using query::Aggregation;
using query::FieldFilter;
using query::Operator;
using query::SortDirection;

Tree Double(double number) {
  Tree tree;
  tree.type = ValueType::kDouble;
  tree.number = number;
  return tree;
}

Tree Integer(int64_t integer) {
  Tree tree;
  tree.type = ValueType::kInteger;
  tree.integer = integer;
  return tree;
}

Tree Text(std::string text) {
  Tree tree;
  tree.type = ValueType::kString;
  tree.text = std::move(text);
  return tree;
}

RandomQuery From(const std::string& collection_id) {
  return {{.parent = Parent(), .collection_id = collection_id}, {}};
}

Documents One(Document document) {
  return {{"c/a", std::make_shared<const Document>(std::move(document))}};
}

Definition IndexOn(const std::string& field) {
  return {"c", index::QueryScope::kCollection, {{FieldAt(field), FieldMode::kAscending}}, false};
}

Aggregation SumOf(const std::string& field) {
  return {Aggregation::Kind::kSum, "sum", FieldAt(field), {}};
}

void ExpectRight(const Failure& failure) {
  ASSERT_TRUE(NormalizeRandom(failure.random).ok());
  const std::optional<Shrunk> shrunk = Shrink(failure);
  EXPECT_FALSE(shrunk.has_value()) << Show(failure) << "\n" << shrunk->difference;
}

TEST(QueryFaultsTest, SumOfSortedDocumentsIsADouble) {
  RandomQuery random = From("c");
  random.aggregations = {SumOf("n")};
  ExpectRight({One({{"n", Double(2)}}), random, {}});
}

TEST(QueryFaultsTest, SumOfSortedLongTextsIsZero) {
  RandomQuery random = From("c");
  random.aggregations = {SumOf("n")};
  ExpectRight({One({{"n", Text(std::string(2'000, 'k'))}}), random, {}});
}

TEST(QueryFaultsTest, SumOfAFixedFieldIsADouble) {
  RandomQuery random = From("c");
  random.query.where = {FieldFilter{FieldAt("n"), Operator::kEqual, EncodeTree(Double(2))}};
  random.aggregations = {SumOf("n")};
  ExpectRight({One({{"n", Double(2)}}), random, {IndexOn("n")}});
}

// Measured with the official emulator: as doubles, 2^63 - 1 would absorb the rest.
TEST(QueryFaultsTest, IntegersAreSummedExactlyBesideDoubles) {
  RandomQuery random = From("c");
  random.aggregations = {SumOf("n")};
  Documents documents;
  const std::vector<Tree> numbers = {Integer(std::numeric_limits<int64_t>::min()), Double(2),
                                     Integer(std::numeric_limits<int64_t>::max())};
  for (size_t i = 0; i < numbers.size(); ++i) {
    documents["c/" + std::to_string(i)] =
        std::make_shared<const Document>(Document{{"n", numbers[i]}});
  }
  const std::vector<Tree> sum = EvaluateAggregations(random.query, random.aggregations, documents);
  EXPECT_EQ(Show(sum[0]), Show(Double(1)));
  ExpectRight({documents, random, {}});
}

TEST(QueryFaultsTest, CursorsHoldForLookupsByName) {
  RandomQuery random = From("c");
  const std::string name = NameDatabase().text() + "/documents/c/a";
  random.query.where = {
      FieldFilter{FieldAt("__name__"), Operator::kEqual, model::EncodeReference(name)}};
  random.query.orders = {{FieldAt("n"), SortDirection::kAscending}};
  random.query.end = {{EncodeTree(Double(1))}, false};
  ExpectRight({One({{"n", Double(2)}}), random, {}});
}

TEST(QueryFaultsTest, EqualityAndContainsOnOneFieldAreTwoFilters) {
  RandomQuery random = From("c");
  Tree empty;
  empty.type = ValueType::kArray;
  random.query.where = {query::CompositeFilter{
      query::CompositeFilter::Operator::kAnd,
      {{FieldFilter{FieldAt("t"), Operator::kEqual, EncodeTree(empty)}},
       {FieldFilter{FieldAt("t"), Operator::kArrayContains, EncodeTree(Text("a"))}}}}};
  ExpectRight({One({{"t", empty}}), random, {IndexOn("t")}});
}

}  // namespace
}  // namespace hearth::queries
