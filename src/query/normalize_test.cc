// How filters and orders are normalized. test/cases/query covers which queries are rejected, and
// how.
#include "query/normalize.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/value.h"
#include "query/testing/values.h"

namespace hearth::query {
namespace {

using model::EncodeArray;
using model::EncodeInteger;
using model::ValueType;
using model::ValueView;

std::string Int(int64_t value) { return EncodeInteger(value); }

Filter Is(const std::string& path, Operator op, std::string value) {
  return Filter{FieldFilter{Path(path), op, std::move(value)}};
}
Filter Is(const std::string& path, Operator op) { return Is(path, op, ""); }
Filter Equal(const std::string& path, int64_t value) {
  return Is(path, Operator::kEqual, Int(value));
}
Filter Above(const std::string& path, int64_t value) {
  return Is(path, Operator::kGreater, Int(value));
}
Filter Contains(const std::string& path, int64_t value) {
  return Is(path, Operator::kArrayContains, Int(value));
}
Filter And(std::vector<Filter> filters) {
  return Filter{CompositeFilter{CompositeFilter::Operator::kAnd, std::move(filters)}};
}
Filter Or(std::vector<Filter> filters) {
  return Filter{CompositeFilter{CompositeFilter::Operator::kOr, std::move(filters)}};
}

// 0, 1, and so on.
std::vector<std::string> Ints(size_t count) {
  std::vector<std::string> values;
  for (size_t i = 0; i < count; ++i) values.push_back(Int(static_cast<int64_t>(i)));
  return values;
}
Filter In(const std::string& path, size_t count) {
  return Is(path, Operator::kIn, EncodeArray(Ints(count)));
}

Order Ascending(const std::string& path) { return {Path(path), SortDirection::kAscending}; }
Order Descending(const std::string& path) { return {Path(path), SortDirection::kDescending}; }

Query On(const std::string& collection) {
  return Query{.parent = *model::ParentName::Parse("projects/p/databases/(default)/documents"),
               .collection_id = collection};
}
Query On(const std::string& collection, Filter filter) {
  Query query = On(collection);
  query.where = std::move(filter);
  return query;
}
Query Ordered(std::vector<Order> orders) {
  Query query = On("c");
  query.orders = std::move(orders);
  return query;
}
Query Ordered(Filter filter, std::vector<Order> orders) {
  Query query = On("c", std::move(filter));
  query.orders = std::move(orders);
  return query;
}

std::string TextOf(const std::string& encoded) {
  if (encoded == kNan) return "NaN";
  const ValueView value(encoded);
  switch (value.type()) {
    case ValueType::kNull:
      return "null";
    case ValueType::kInteger:
      return std::to_string(value.integer());
    case ValueType::kDouble:
      return std::to_string(value.number());
    case ValueType::kArray: {
      std::string text;
      for (model::ArrayView rest = value.array(); const auto item = rest.Next();) {
        text += (text.empty() ? "" : ",") + TextOf(std::string(item->encoded()));
      }
      return "[" + text + "]";
    }
    default:
      return std::string(value.text());
  }
}

std::string TextOf(const FieldFilter& filter) {
  static const char* const kOperators[] = {"<", "<=", "==", "!=", ">=", ">", "contains"};
  const std::string op =
      filter.op == Operator::kNotIn ? "not in" : kOperators[static_cast<size_t>(filter.op)];
  return filter.path.ToString() + " " + op + " " + TextOf(filter.value);
}

// "a == 1 & b > 2 | c == 3"
std::string TextOf(const std::vector<Conjunction>& disjuncts) {
  std::string text;
  for (const Conjunction& conjunction : disjuncts) {
    text += text.empty() ? "" : " | ";
    if (conjunction.filters.empty()) text += "all";
    for (const FieldFilter& filter : conjunction.filters) {
      text += (&filter == conjunction.filters.data() ? "" : " & ") + TextOf(filter);
    }
  }
  return text.empty() ? "none" : text;
}

// "a, b desc"
std::string TextOf(const std::vector<Order>& orders) {
  std::string text;
  for (const Order& order : orders) {
    text += (text.empty() ? "" : ", ") + order.path.ToString();
    if (order.direction == SortDirection::kDescending) text += " desc";
  }
  return text;
}

std::string Disjuncts(Filter filter) {
  const Result<NormalizedQuery> normalized = Normalize(On("c", std::move(filter)));
  return normalized.ok() ? TextOf(normalized->disjuncts) : normalized.status().ToString();
}

std::string Orders(Query query) {
  const Result<NormalizedQuery> normalized = Normalize(std::move(query));
  return normalized.ok() ? TextOf(normalized->orders) : normalized.status().ToString();
}

TEST(NormalizeTest, WithoutAFilterAllDocumentsMatch) {
  EXPECT_EQ(TextOf(Normalize(On("c"))->disjuncts), "all");
}

TEST(NormalizeTest, MakesADisjunctionOfConjunctions) {
  const Filter a = Equal("a", 1);
  const Filter b = Equal("b", 2);
  const Filter c = Equal("c", 3);
  const Filter d = Above("d", 4);
  EXPECT_EQ(Disjuncts(And({a, d})), "a == 1 & d > 4");
  EXPECT_EQ(Disjuncts(Or({a, And({b, c})})), "a == 1 | b == 2 & c == 3");
  EXPECT_EQ(Disjuncts(And({a, Or({b, c})})), "a == 1 & b == 2 | a == 1 & c == 3");
  EXPECT_EQ(Disjuncts(And({Or({a, b}), Or({c, d})})),
            "a == 1 & c == 3 | a == 1 & d > 4 | b == 2 & c == 3 | b == 2 & d > 4");
  EXPECT_EQ(Disjuncts(Or({a, Or({b, Or({c})})})), "a == 1 | b == 2 | c == 3");
  EXPECT_EQ(Disjuncts(And({a, In("x", 2)})), "a == 1 & x == 0 | a == 1 & x == 1");
  EXPECT_EQ(Disjuncts(Is("t", Operator::kArrayContainsAny, EncodeArray(Ints(2)))),
            "t contains 0 | t contains 1");
}

TEST(NormalizeTest, RemovesDuplicates) {
  const Filter a = Equal("a", 1);
  const Filter b = Equal("b", 2);
  EXPECT_EQ(Disjuncts(And({a, a, And({a, b})})), "a == 1 & b == 2");
  EXPECT_EQ(Disjuncts(And({Contains("t", 1), Contains("t", 1)})), "t contains 1");
  EXPECT_EQ(Disjuncts(Or({a, b, a, And({a})})), "a == 1 | b == 2");
  EXPECT_EQ(Disjuncts(Or({And({a, b}), And({b, a})})), "a == 1 & b == 2");
  EXPECT_EQ(Disjuncts(And({Or({a, b}), Or({b, a})})), "a == 1 | b == 2");
  EXPECT_EQ(Disjuncts(Is("x", Operator::kIn, EncodeArray({Int(1), Int(2), Int(1)}))),
            "x == 1 | x == 2");
  EXPECT_EQ(Disjuncts(Is("x", Operator::kNotIn, EncodeArray({Int(2), Int(1), Int(2)}))),
            "x not in [1,2]");
}

TEST(NormalizeTest, FindsNothingByComparisonsWithNullAndNan) {
  for (const std::string& value : {kNull, kNan}) {
    for (const Operator op :
         {Operator::kLess, Operator::kLessOrEqual, Operator::kEqual, Operator::kGreaterOrEqual,
          Operator::kGreater, Operator::kArrayContains}) {
      EXPECT_EQ(Disjuncts(Is("x", op, value)), "none");
      EXPECT_EQ(Disjuncts(And({Equal("y", 1), Is("x", op, value)})), "none");
      EXPECT_EQ(Disjuncts(Or({Equal("y", 1), Is("x", op, value)})), "y == 1");
    }
    EXPECT_EQ(Disjuncts(Is("x", Operator::kIn, EncodeArray({value}))), "none");
    EXPECT_EQ(Disjuncts(Is("x", Operator::kIn, EncodeArray({value, Int(1)}))), "x == 1");
    EXPECT_EQ(Disjuncts(Is("x", Operator::kArrayContainsAny, EncodeArray({value, Int(1)}))),
              "x contains 1");
  }
  EXPECT_EQ(Disjuncts(Is("x", Operator::kNotEqual, kNull)), "none");
  EXPECT_EQ(Disjuncts(Is("x", Operator::kNotIn, EncodeArray({kNull, Int(1)}))), "none");
}

TEST(NormalizeTest, LeavesNanOutOfNegations) {
  EXPECT_EQ(Disjuncts(Is("x", Operator::kNotEqual, kNan)), "x != null");
  EXPECT_EQ(Disjuncts(Is("x", Operator::kNotIn, EncodeArray({kNan}))), "x != null");
  EXPECT_EQ(Disjuncts(Is("x", Operator::kNotIn, EncodeArray({kNan, Int(1)}))), "x not in [1]");
}

TEST(NormalizeTest, HasPlainFormsForOperatorsWithoutValue) {
  EXPECT_EQ(Disjuncts(Is("x", Operator::kIsNull)), "x == null");
  EXPECT_EQ(Disjuncts(Is("x", Operator::kIsNan)), "x == NaN");
  EXPECT_EQ(Disjuncts(Is("x", Operator::kIsNotNull)), "x != null");
  EXPECT_EQ(Disjuncts(Is("x", Operator::kIsNotNan)), "x != NaN");
}

TEST(NormalizeTest, EndsOrdersWithTheName) {
  EXPECT_EQ(Orders(On("c")), "__name__");
  EXPECT_EQ(Orders(On("c", Equal("x", 1))), "__name__");
  EXPECT_EQ(Orders(On("c", In("x", 2))), "__name__");
  EXPECT_EQ(Orders(On("c", Contains("x", 2))), "__name__");
  EXPECT_EQ(Orders(Ordered({Ascending("x")})), "x, __name__");
  EXPECT_EQ(Orders(Ordered({Ascending("x"), Descending("y")})), "x, y desc, __name__ desc");
  EXPECT_EQ(Orders(Ordered({Descending("x"), Ascending("__name__")})), "x desc, __name__");
  EXPECT_EQ(Orders(Ordered({Descending("__name__")})), "__name__ desc");
}

TEST(NormalizeTest, OrdersByTheFieldsOfInequalities) {
  for (const Operator op : {Operator::kLess, Operator::kLessOrEqual, Operator::kNotEqual,
                            Operator::kGreaterOrEqual, Operator::kGreater}) {
    EXPECT_EQ(Orders(On("c", Is("x", op, Int(1)))), "x, __name__");
  }
  EXPECT_EQ(Orders(On("c", Is("x", Operator::kNotIn, EncodeArray({Int(1)})))), "x, __name__");
  EXPECT_EQ(Orders(On("c", Is("x", Operator::kIsNotNull))), "x, __name__");
  EXPECT_EQ(Orders(On("c", Is("x", Operator::kIsNotNan))), "x, __name__");
  EXPECT_EQ(Orders(On("c", Is("x", Operator::kNotEqual, kNan))), "x, __name__");
  EXPECT_EQ(Orders(On("c", Is("x", Operator::kIsNull))), "__name__");
  EXPECT_EQ(Orders(On("c", And({Above("aa", 0), Above("a.z", 0), Above("`a-b`", 0), Above("_u", 0),
                                Above("B", 0), Above("a.z", 9)}))),
            "B, _u, a.z, `a-b`, aa, __name__");
  EXPECT_EQ(Orders(Ordered(And({Above("x", 0), Above("a", 0)}), {Ascending("b"), Descending("x")})),
            "b, x desc, a desc, __name__ desc");
  EXPECT_EQ(Orders(On("c", Or({Equal("a", 1), Above("b", 2), And({Above("a", 3)})}))),
            "a, b, __name__");
}

TEST(NormalizeTest, HasNoOtherOrderForNamesThanTheLast) {
  const Filter above = Is("__name__", Operator::kGreater, Ref("c/a"));
  EXPECT_EQ(Orders(On("c", above)), "__name__");
  EXPECT_EQ(Orders(On("c", And({above, Above("x", 1)}))), "x, __name__");
  EXPECT_EQ(Orders(Ordered(above, {Descending("x")})), "x desc, __name__ desc");
  EXPECT_EQ(Orders(Ordered(above, {Descending("__name__")})), "__name__ desc");
}

// A filter that can never hold implies no order, but an inequality next to it does.
TEST(NormalizeTest, HasNoOrderForWhatCannotMatch) {
  EXPECT_EQ(Orders(On("c", Or({Equal("y", 1), Is("x", Operator::kGreater, kNull)}))), "__name__");
  EXPECT_EQ(Orders(On("c", Or({Equal("y", 1), Is("x", Operator::kNotEqual, kNull)}))), "__name__");
  EXPECT_EQ(Orders(On("c", Or({Equal("y", 1),
                               And({Is("x", Operator::kGreater, kNull), Above("z", 0)})}))),
            "z, __name__");
  EXPECT_EQ(Orders(On("c", Is("x", Operator::kNotIn, EncodeArray({kNull})))), "__name__");
  EXPECT_EQ(Orders(On("c", Is("x", Operator::kNotIn, EncodeArray({kNull, Int(1)})))),
            "x, __name__");
}

Aggregation Count(const std::string& alias) {
  return {.kind = Aggregation::Kind::kCount, .alias = alias};
}
Aggregation Sum(const std::string& path) {
  return {.kind = Aggregation::Kind::kSum, .alias = path, .path = Path(path)};
}

std::string AggregationOrders(Query query, const std::vector<Aggregation>& aggregations) {
  const Result<NormalizedQuery> normalized = Normalize(std::move(query), aggregations);
  return normalized.ok() ? TextOf(normalized->orders) : normalized.status().ToString();
}

TEST(NormalizeTest, OrdersByAggregatedFields) {
  EXPECT_EQ(AggregationOrders(On("c"), {Count("n")}), "__name__");
  EXPECT_EQ(AggregationOrders(On("c"), {Sum("q"), Count("n"), Sum("p")}), "p, q, __name__");
  EXPECT_EQ(AggregationOrders(On("c", Above("r", 0)), {Sum("p")}), "r, p, __name__");
  EXPECT_EQ(AggregationOrders(Ordered({Descending("q")}), {Sum("p"), Sum("q")}),
            "q desc, p desc, __name__ desc");
  EXPECT_EQ(AggregationOrders(On(""), {Sum("p")}), "p, __name__");
}

}  // namespace
}  // namespace hearth::query
