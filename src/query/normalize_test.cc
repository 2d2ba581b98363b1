#include "query/normalize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/value.h"

namespace hearth::query {
namespace {

using model::EncodeArray;
using model::EncodeBytes;
using model::EncodeDouble;
using model::EncodeInteger;
using model::EncodeNull;
using model::EncodeReference;
using model::EncodeString;
using model::FieldPath;
using model::ValueType;
using model::ValueView;

const char kDatabase[] = "projects/p/databases/(default)";
const std::string kNull = EncodeNull();
const std::string kNan = EncodeDouble(std::nan(""));

FieldPath Path(const std::string& text) { return *FieldPath::Parse(text); }

std::string Int(int64_t value) { return EncodeInteger(value); }

std::string Ref(const std::string& path) {
  return EncodeReference(std::string(kDatabase) + "/documents/" + path);
}

const std::string kElsewhere = EncodeReference("projects/p/databases/other/documents/c/b");

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

// `count` integers from `first` on.
std::vector<std::string> Ints(size_t count, int64_t first = 0) {
  std::vector<std::string> values;
  for (size_t i = 0; i < count; ++i) values.push_back(Int(first + static_cast<int64_t>(i)));
  return values;
}
Filter In(const std::string& path, size_t count, int64_t first = 0) {
  return Is(path, Operator::kIn, EncodeArray(Ints(count, first)));
}
// One filter for each of `count` fields.
std::vector<Filter> OnFields(const std::string& prefix, size_t count, Operator op) {
  std::vector<Filter> filters;
  for (size_t i = 0; i < count; ++i) {
    filters.push_back(Is(prefix + std::to_string(i), op, Int(1)));
  }
  return filters;
}
// x == 0, x == 1, …
std::vector<Filter> Equals(const std::string& path, size_t count) {
  std::vector<Filter> filters;
  for (const std::string& value : Ints(count)) {
    filters.push_back(Is(path, Operator::kEqual, value));
  }
  return filters;
}
std::vector<Filter> operator+(std::vector<Filter> left, std::vector<Filter> right) {
  for (Filter& filter : right) left.push_back(std::move(filter));
  return left;
}

Order Ascending(const std::string& path) { return {Path(path), SortDirection::kAscending}; }
Order Descending(const std::string& path) { return {Path(path), SortDirection::kDescending}; }

Query On(const std::string& collection, const std::string& parent = "") {
  const std::string name = std::string(kDatabase) + "/documents";
  return Query{.parent = *model::ParentName::Parse(parent.empty() ? name : name + "/" + parent),
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

std::string Fault(const Status& status) { return status.ok() ? "OK" : status.ToString(); }
std::string Fault(Query query) { return Fault(Normalize(std::move(query)).status()); }
std::string Fault(Filter filter) { return Fault(On("c", std::move(filter))); }
std::string Invalid(const std::string& message) { return "INVALID_ARGUMENT: " + message; }

const char kOneNegation[] =
    "INVALID_ARGUMENT: Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter "
    "allowed per query.";
const char kNotInAlone[] =
    "INVALID_ARGUMENT: 'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' "
    "or 'OR'.";
const char kOneArrayContains[] =
    "INVALID_ARGUMENT: A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.";
const char kAfterKey[] =
    "INVALID_ARGUMENT: order by clause cannot contain more fields after the key";
const char kTooManyWithoutCount[] =
    "INVALID_ARGUMENT: Too many disjunctions after normalization, the maximum is 30";
const char kNotAKey[] = "INVALID_ARGUMENT: __key__ filter value must be a Key";

std::string TooMany(size_t count) {
  return Invalid("Too many disjunctions after normalization. Result had " + std::to_string(count) +
                 " disjunctions which is more than the maximum of 30");
}

std::string TooManyFilters(const std::string& counts) {
  return Invalid(
      "The query may not have more than 100 filters + sort orders + ancestor total. Currently "
      "there are " +
      counts + " ancestor filter.");
}

TEST(NormalizeTest, ChecksTheCollectionId) {
  EXPECT_EQ(Fault(On("a/b")),
            Invalid("Collection id \"a/b\" is invalid because it contains \"/\"."));
  EXPECT_EQ(Fault(On("__x__")),
            Invalid("Collection id \"__x__\" is invalid because it is reserved."));
  EXPECT_EQ(Fault(On(".")), Invalid("Collection id \".\" is invalid because it is reserved."));
  EXPECT_EQ(Fault(On(std::string(1500, 'k'))), "OK");
  EXPECT_EQ(Fault(On(std::string(1501, 'k'))),
            Invalid("The query kind is longer than 1500 bytes."));
}

TEST(NormalizeTest, ChecksTheArraysOfOperators) {
  const std::pair<Operator, std::string> operators[] = {
      {Operator::kIn, "'IN'"},
      {Operator::kNotIn, "'NOT_IN'"},
      {Operator::kArrayContainsAny, "'ARRAY_CONTAINS_ANY'"}};
  for (const auto& [op, name] : operators) {
    EXPECT_EQ(Fault(Is("x", op, Int(1))), Invalid(name + " requires an ArrayValue."));
    EXPECT_EQ(Fault(Is("x", op, EncodeArray({}))),
              Invalid(name + " requires an non-empty ArrayValue."));
    const size_t max = op == Operator::kNotIn ? 10 : 30;
    EXPECT_EQ(Fault(Is("x", op, EncodeArray(Ints(max)))), "OK");
    EXPECT_EQ(Fault(Is("x", op, EncodeArray(std::vector<std::string>(max + 1, Int(1))))),
              Invalid(name + " supports up to " + std::to_string(max) + " comparison values."));
  }
}

TEST(NormalizeTest, AllowsOneNegation) {
  const Filter not_one = Is("x", Operator::kNotEqual, Int(1));
  const Filter not_in = Is("x", Operator::kNotIn, EncodeArray({Int(7)}));
  EXPECT_EQ(Fault(And({not_one, not_one})), kOneNegation);
  EXPECT_EQ(Fault(And({not_one, Is("y", Operator::kIsNotNull)})), kOneNegation);
  EXPECT_EQ(Fault(And({not_one, Is("y", Operator::kIsNotNan)})), kOneNegation);
  EXPECT_EQ(Fault(Or({not_one, Is("y", Operator::kNotEqual, Int(1))})), kOneNegation);
  EXPECT_EQ(Fault(Or({not_in, not_in})), kOneNegation);
  EXPECT_EQ(Fault(And({not_one, not_one, Is("x", Operator::kIn, EncodeArray({}))})), kOneNegation);
  EXPECT_EQ(Fault(And({not_one, Above("x", 0), Equal("y", 1)})), "OK");
  EXPECT_EQ(Fault(Or({not_one, Equal("y", 1)})), "OK");
}

TEST(NormalizeTest, KeepsNotInAwayFromDisjunctions) {
  const Filter not_in = Is("x", Operator::kNotIn, EncodeArray({Int(7)}));
  EXPECT_EQ(Fault(And({not_in, In("y", 1)})), kNotInAlone);
  EXPECT_EQ(Fault(And({Is("y", Operator::kArrayContainsAny, EncodeArray({Int(1)})), not_in})),
            kNotInAlone);
  EXPECT_EQ(Fault(Or({not_in})), kNotInAlone);
  EXPECT_EQ(Fault(Or({Is("x", Operator::kNotIn, Int(1))})), kNotInAlone);
  EXPECT_EQ(Fault(And({not_in, Or({Equal("y", 1)})})), kNotInAlone);
  EXPECT_EQ(Fault(And({not_in, Contains("y", 1), Above("z", 1)})), "OK");
}

TEST(NormalizeTest, AllowsOneArrayContainsInADisjunct) {
  const Filter one = Contains("t", 1);
  EXPECT_EQ(Fault(And({one, Contains("u", 1)})), kOneArrayContains);
  EXPECT_EQ(Fault(And({one, Is("t", Operator::kArrayContainsAny, EncodeArray({Int(1)}))})),
            kOneArrayContains);
  EXPECT_EQ(Fault(And({one, Or({Contains("t", 2), Equal("x", 1)})})), kOneArrayContains);
  EXPECT_EQ(Fault(And({one, Is("t", Operator::kArrayContains, kNull)})), kOneArrayContains);
  EXPECT_EQ(Fault(And({one, And({one, Equal("x", 1)})})), kOneArrayContains);
  EXPECT_EQ(Fault(And({one, Contains("u", 1), In("x", 10), In("y", 10)})), kOneArrayContains);
  EXPECT_EQ(Disjuncts(And({one, one})), "t contains 1");
  EXPECT_EQ(Disjuncts(Or({one, Contains("u", 2)})), "t contains 1 | u contains 2");
}

TEST(NormalizeTest, ChecksFiltersOnNames) {
  EXPECT_EQ(Fault(Is("__name__", Operator::kEqual, EncodeString("b"))), kNotAKey);
  EXPECT_EQ(Fault(Is("__name__", Operator::kGreater, kNull)), kNotAKey);
  EXPECT_EQ(Fault(Is("__name__", Operator::kIsNull)), kNotAKey);
  EXPECT_EQ(Fault(Is("__name__", Operator::kIsNotNan)), kNotAKey);
  EXPECT_EQ(Fault(Is("__name__", Operator::kIn, EncodeArray({Ref("c/a"), kNull}))), kNotAKey);
  EXPECT_EQ(Fault(Is("__name__", Operator::kNotIn, EncodeArray({Int(1)}))), kNotAKey);
  const std::string reserved = Invalid("the name __key__ is reserved");
  EXPECT_EQ(Fault(Is("__name__", Operator::kArrayContains, Ref("c/a"))), reserved);
  EXPECT_EQ(Fault(Is("__name__", Operator::kArrayContainsAny, EncodeArray({Ref("c/a")}))),
            reserved);
  const std::string elsewhere = Invalid(
      "The request was for database 'projects/p/databases/(default)' but was attempting to access "
      "database 'projects/p/databases/other'");
  EXPECT_EQ(Fault(Is("__name__", Operator::kEqual, kElsewhere)), elsewhere);
  EXPECT_EQ(Fault(Is("__name__", Operator::kIn, EncodeArray({kElsewhere}))), elsewhere);
  EXPECT_EQ(Fault(Is("x", Operator::kEqual, kElsewhere)), "OK");
  EXPECT_EQ(Fault(Is("__name__", Operator::kGreater, Ref("c/b/s/x"))), "OK");
}

TEST(NormalizeTest, NeedsAnOrderOfNamesForNamesBesideInequalities) {
  const std::string fault = Invalid(
      "Equality on key is not allowed if there are other inequality fields and key does not appear "
      "in inequalities.");
  const Filter equal = Is("__name__", Operator::kEqual, Ref("c/a"));
  const Filter in = Is("__name__", Operator::kIn, EncodeArray({Ref("c/a")}));
  EXPECT_EQ(Fault(And({equal, Above("x", 1)})), fault);
  EXPECT_EQ(Fault(Or({in, Is("x", Operator::kIsNotNull)})), fault);
  EXPECT_EQ(Fault(And({equal, Equal("x", 1)})), "OK");
  EXPECT_EQ(Fault(And({equal, Above("x", 1), Is("__name__", Operator::kLess, Ref("c/b"))})), "OK");
}

TEST(NormalizeTest, ChecksTheSizeOfOperands) {
  const auto too_large = [](const std::string& path) {
    return Invalid("value for " + path + " is too large to be used in a query");
  };
  const std::string longest = EncodeString(std::string(1499, 'k'));
  const std::string too_long = EncodeString(std::string(1500, 'k'));
  EXPECT_EQ(Fault(Is("s", Operator::kEqual, longest)), "OK");
  EXPECT_EQ(Fault(Is("s", Operator::kEqual, too_long)), too_large("s"));
  EXPECT_EQ(Fault(Is("a.`b-c`", Operator::kLess, too_long)), too_large("a.b-c"));
  EXPECT_EQ(Fault(Is("s", Operator::kIn, EncodeArray({Int(1), too_long}))), too_large("s"));
  EXPECT_EQ(Fault(Is("s", Operator::kNotIn, EncodeArray({longest, Int(1)}))), "OK");
  EXPECT_EQ(Fault(Is("s", Operator::kArrayContains, too_long)), too_large("s[*]"));
  EXPECT_EQ(Fault(Is("s", Operator::kArrayContainsAny, EncodeArray({too_long}))),
            too_large("s[*]"));
  EXPECT_EQ(Fault(Is("s", Operator::kEqual, EncodeBytes(std::string(1500, 1)))), "OK");
  EXPECT_EQ(Fault(Is("s", Operator::kEqual, EncodeBytes(std::string(1501, 1)))), too_large("s"));
  EXPECT_EQ(Fault(Is("__name__", Operator::kEqual, Ref("c/" + std::string(1500, 'k')))), "OK");
}

TEST(NormalizeTest, RefusesCompositesOfNothing) {
  const std::string fault = Invalid("Composite filter must have at least one sub-filter.");
  EXPECT_EQ(Fault(Or({})), fault);
  EXPECT_EQ(Fault(And({})), fault);
  EXPECT_EQ(Fault(And({And({}), Equal("x", 1)})), fault);
  EXPECT_EQ(Fault(Or({Equal("x", 1), And({})})), fault);
  EXPECT_EQ(Fault(And({And({And({})})})), fault);
  EXPECT_EQ(Fault(And({Or({}), Is("x", Operator::kIn, Int(1))})), fault);
  EXPECT_EQ(Fault(And({Or({}), Is("x", Operator::kIsNotNull), Is("y", Operator::kIsNotNan)})),
            kOneNegation);
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
  EXPECT_EQ(Disjuncts(Or({a, b, a, And({a})})), "a == 1 | b == 2");
  EXPECT_EQ(Disjuncts(Or({And({a, b}), And({b, a})})), "a == 1 & b == 2");
  EXPECT_EQ(Disjuncts(And({Or({a, b}), Or({b, a})})), "a == 1 | b == 2");
  EXPECT_EQ(Disjuncts(Is("x", Operator::kIn, EncodeArray({Int(1), Int(2), Int(1)}))),
            "x == 1 | x == 2");
  EXPECT_EQ(Disjuncts(Is("x", Operator::kNotIn, EncodeArray({Int(2), Int(1), Int(2)}))),
            "x not in [1,2]");
}

TEST(NormalizeTest, LimitsDisjunctions) {
  EXPECT_EQ(Fault(And({In("x", 5), In("y", 6)})), "OK");
  EXPECT_EQ(Fault(And({In("x", 4), In("y", 8)})), TooMany(32));
  EXPECT_EQ(Fault(And({In("x", 30), In("y", 2)})), TooMany(60));
  EXPECT_EQ(Fault(And({In("x", 7), In("y", 9)})), kTooManyWithoutCount);
  EXPECT_EQ(Fault(And({In("x", 5), In("y", 5), In("z", 3)})), kTooManyWithoutCount);
  EXPECT_EQ(Fault(Or({And({In("x", 8), In("y", 8)}), Equal("z", 1)})), kTooManyWithoutCount);
  EXPECT_EQ(Fault(Or(std::vector{And({In("x", 7), In("y", 8)})} + Equals("z", 6))), TooMany(62));
  EXPECT_EQ(Fault(Or(Equals("x", 30))), "OK");
  EXPECT_EQ(Fault(Or(Equals("x", 31))), TooMany(31));
  EXPECT_EQ(Fault(Or(Equals("x", 100))), TooMany(100));
  EXPECT_EQ(Fault(And({Or(Equals("x", 60)), Equal("z", 1)})), TooMany(60));
  EXPECT_EQ(Fault(And({Or(Equals("x", 61)), Equal("z", 1)})), kTooManyWithoutCount);
  EXPECT_EQ(Fault(Or({Is("x", Operator::kIsNull), Or(Equals("y", 30))})), TooMany(31));
}

TEST(NormalizeTest, CountsDisjunctionsWithoutDuplicates) {
  EXPECT_EQ(Fault(Or(std::vector<Filter>(101, Equal("x", 1)))), "OK");
  EXPECT_EQ(Fault(And({In("x", 8), In("x", 8)})), "OK");
  EXPECT_EQ(Fault(And({In("x", 8), And({In("x", 8), Equal("z", 1)})})), "OK");
  EXPECT_EQ(Fault(And({In("x", 8), Or(Equals("x", 8))})), "OK");
  EXPECT_EQ(Fault(And({In("x", 7), In("x", 7, 3)})), TooMany(43));
  // Equal values of different types are different filters here.
  EXPECT_EQ(Fault(Or(Equals("x", 30) + std::vector{Is("x", Operator::kEqual, EncodeDouble(1))})),
            TooMany(31));
}

TEST(NormalizeTest, CountsWhatCannotMatchOnceForEachField) {
  const auto in = [](std::vector<std::string> values) {
    return Is("x", Operator::kIn, EncodeArray(values));
  };
  EXPECT_EQ(Fault(And({in({kNull, Int(1), kNan, Int(3)}), In("y", 10)})), "OK");
  EXPECT_EQ(Fault(And({in({kNull, Int(1), Int(2), Int(3)}), In("y", 8)})), TooMany(32));
  EXPECT_EQ(Fault(Or(std::vector{Is("x", Operator::kEqual, kNull), Is("x", Operator::kLess, kNan)} +
                     Equals("y", 30))),
            TooMany(31));
}

TEST(NormalizeTest, LimitsInequalityFields) {
  EXPECT_EQ(Fault(And(OnFields("f", 10, Operator::kGreater))), "OK");
  const std::string fault = Invalid(
      "The query contains 11 distinct inequality fields: [f0, f1, f10, f2, f3, f4, f5, f6, f7, f8, "
      "f9]. A query may not have more than 10 distinct inequality fields.");
  EXPECT_EQ(Fault(And(OnFields("f", 11, Operator::kGreater))), fault);
  EXPECT_EQ(Fault(Or(OnFields("f", 11, Operator::kLess))), fault);
  EXPECT_EQ(Fault(And(OnFields("f", 10, Operator::kGreater) +
                      std::vector{Is("__name__", Operator::kGreater, Ref("c/a"))})),
            Invalid("The query contains 11 distinct inequality fields: [__key__, f0, f1, f2, f3, "
                    "f4, f5, f6, f7, f8, f9]. A query may not have more than 10 distinct "
                    "inequality fields."));
}

TEST(NormalizeTest, LimitsFiltersAndOrders) {
  EXPECT_EQ(Fault(And(OnFields("f", 100, Operator::kEqual))), "OK");
  EXPECT_EQ(Fault(And(OnFields("f", 101, Operator::kEqual))),
            TooManyFilters("101 filters, 0 sort orders, and no"));
  EXPECT_EQ(Fault(And(std::vector<Filter>(101, Equal("x", 1)))), "OK");
  EXPECT_EQ(
      Fault(Ordered(And(OnFields("f", 99, Operator::kEqual)), {Ascending("g"), Ascending("h")})),
      TooManyFilters("99 filters, 2 sort orders, and no"));
  Query below = On("c", "c/d");
  below.where = And(OnFields("f", 99, Operator::kEqual));
  EXPECT_EQ(Fault(below), "OK");
  below.where = And(OnFields("f", 100, Operator::kEqual));
  EXPECT_EQ(Fault(below), TooManyFilters("100 filters, 0 sort orders, and one"));
}

TEST(NormalizeTest, CountsTheValuesOfFilters) {
  const std::vector<Filter> hundred = OnFields("f", 100, Operator::kEqual);
  const auto with = [&hundred](Filter filter) {
    return Fault(And(hundred + std::vector{std::move(filter)}));
  };
  const auto count = [](const std::string& filters) {
    return TooManyFilters(filters + " filters, 0 sort orders, and no");
  };
  EXPECT_EQ(with(In("x", 30)), count("130"));
  EXPECT_EQ(with(Is("x", Operator::kNotIn, EncodeArray(Ints(10)))), count("110"));
  EXPECT_EQ(with(Is("x", Operator::kNotIn, EncodeArray({Int(1), Int(1), Int(2), kNan}))),
            count("103"));
  EXPECT_EQ(with(Is("x", Operator::kNotIn, EncodeArray({kNull, Int(1), Int(2)}))), count("104"));
  EXPECT_EQ(with(Is("x", Operator::kIn, EncodeArray({kNull, kNan, Int(1)}))), count("103"));
  EXPECT_EQ(with(Is("x", Operator::kEqual, kNull)), count("102"));
  EXPECT_EQ(with(Is("x", Operator::kIsNotNull)), count("101"));
  EXPECT_EQ(with(And(hundred)), count("200"));
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

TEST(NormalizeTest, ChecksOrders) {
  EXPECT_EQ(Fault(Ordered({Ascending("x"), Descending("x")})),
            Invalid("order by clause cannot contain duplicate fields x"));
  EXPECT_EQ(Fault(Ordered({Ascending("a.`b-c`"), Ascending("a.`b-c`")})),
            Invalid("order by clause cannot contain duplicate fields a.b-c"));
  EXPECT_EQ(Fault(Ordered({Ascending("__name__"), Ascending("x")})), kAfterKey);
  EXPECT_EQ(Fault(Ordered({Ascending("__name__"), Ascending("__name__")})), kAfterKey);
  EXPECT_EQ(Fault(Ordered({Ascending("__name__"), Ascending("y"), Ascending("y")})), kAfterKey);
  EXPECT_EQ(Fault(Ordered(Above("x", 0), {Ascending("__name__")})), kAfterKey);
  EXPECT_EQ(Fault(Ordered(Above("x", 0), {Ascending("y"), Ascending("__name__")})), kAfterKey);
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

// What can never hold asks for no order; an inequality beside it does.
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

TEST(NormalizeTest, ChecksCursors) {
  const std::string too_many = Invalid("Cursor has too many values.");
  const std::string not_a_reference = Invalid("Cursor __key__ value is not a document reference.");
  const std::string elsewhere = Invalid("The cursor key is in a different database than the query");
  for (std::optional<Bound> Query::*bound : {&Query::start, &Query::end}) {
    const auto with = [bound](Query query, std::vector<std::string> values) {
      query.*bound = Bound{std::move(values), true};
      return Fault(std::move(query));
    };
    EXPECT_EQ(with(On("c"), {Ref("c/b")}), too_many);
    EXPECT_EQ(with(On("c", Above("x", 0)), {Int(2)}), too_many);
    EXPECT_EQ(with(Ordered({Ascending("x")}), {Int(2), Ref("c/b")}), too_many);
    EXPECT_EQ(with(Ordered({Ascending("x"), Ascending("y")}), {Int(2)}), "OK");
    EXPECT_EQ(with(On("c"), {}), "OK");
    EXPECT_EQ(with(Ordered({Ascending("x")}), {kElsewhere}), "OK");
    const Query by_name = Ordered({Ascending("x"), Ascending("__name__")});
    EXPECT_EQ(with(by_name, {Int(1), EncodeString("b")}), not_a_reference);
    EXPECT_EQ(with(by_name, {Int(1), kElsewhere}), elsewhere);
    EXPECT_EQ(with(by_name, {Int(1), Ref("other/b/deeper/c")}), "OK");
  }
}

TEST(NormalizeTest, LimitsQueriesOverAllCollections) {
  const auto needs = [](const std::string& path) {
    return Invalid("kind is required for filter: " + path);
  };
  EXPECT_EQ(Fault(On("")), "OK");
  EXPECT_EQ(Fault(On("", Equal("x", 1))), needs("x"));
  EXPECT_EQ(Fault(On("", Is("a.`b-c`", Operator::kIsNull))), needs("a.b-c"));
  EXPECT_EQ(Fault(On("", Contains("x", 1))), needs("x[*]"));
  const std::string too_long = EncodeString(std::string(1500, 'k'));
  EXPECT_EQ(Fault(On("", Is("x", Operator::kLess, too_long))),
            Invalid("value for x is too large to be used in a query"));
  EXPECT_EQ(Fault(On("", Is("x", Operator::kIn, EncodeArray({Int(1), too_long})))), needs("x"));
  const Filter above = Is("__name__", Operator::kGreater, Ref("c/a"));
  EXPECT_EQ(Fault(On("", above)), "OK");
  EXPECT_EQ(Fault(On("", Or({above, Equal("y", 1), Equal("x", 1)}))), needs("y"));
  Query ordered = On("");
  ordered.orders = {Ascending("__name__")};
  EXPECT_EQ(Fault(ordered), "OK");
  const std::string only_names =
      Invalid("kind is required for all orders except __key__ ascending");
  ordered.orders = {Descending("__name__")};
  EXPECT_EQ(Fault(ordered), only_names);
  ordered.orders = {Ascending("__name__"), Descending("__name__")};
  EXPECT_EQ(Fault(ordered), only_names);
  ordered.orders = {Ascending("x")};
  ordered.where = Equal("x", 1);
  EXPECT_EQ(Fault(ordered), only_names);
}

TEST(NormalizeTest, LimitsQueriesOverDescendantsOfADocument) {
  const std::string fault = Invalid("collection group queries are only allowed at the root parent");
  Query query = On("s", "c/a");
  query.where = Equal("x", 1);
  EXPECT_EQ(Fault(query), "OK");
  query.all_descendants = true;
  EXPECT_EQ(Fault(query), fault);
  query.where = Is("__name__", Operator::kGreater, Ref("c/a/s/k"));
  EXPECT_EQ(Fault(query), "OK");
  query.where = Is("__name__", Operator::kArrayContains, Ref("c/a/s/k"));
  EXPECT_EQ(Fault(query), fault);
  query.where.reset();
  query.orders = {Ascending("x")};
  EXPECT_EQ(Fault(query), fault);
  query.parent = On("s").parent;
  query.where = Equal("x", 1);
  EXPECT_EQ(Fault(query), "OK");
}

Query Nearest() {
  Query query = On("c");
  query.nearest = FindNearest{.vector_field = Path("e"),
                              .query_vector = {1, 1},
                              .measure = DistanceMeasure::kEuclidean,
                              .limit = 2};
  return query;
}

TEST(NormalizeTest, ChecksTheSearchForNeighbours) {
  Query query = Nearest();
  EXPECT_EQ(Fault(query), "OK");
  query.nearest->query_vector.assign(2048, 1);
  EXPECT_EQ(Fault(query), "OK");
  query.nearest->query_vector.assign(2049, 1);
  EXPECT_EQ(Fault(query), Invalid("Vectors must be at most 2048 dimensions."));
  query.nearest->query_vector.clear();
  EXPECT_EQ(Fault(query), Invalid("Cannot have a zero length vector."));

  query = Nearest();
  query.nearest->limit = 1000;
  EXPECT_EQ(Fault(query), "OK");
  const std::string limits =
      Invalid("FindNearest.limit must be a positive integer of no more than 1000");
  query.nearest->limit = 1001;
  EXPECT_EQ(Fault(query), limits);
  query.nearest->limit = 0;
  EXPECT_EQ(Fault(query), limits);

  query = Nearest();
  query.nearest->distance_threshold = -1;
  EXPECT_EQ(Fault(query), "OK");
  for (const double threshold : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    query.nearest->distance_threshold = threshold;
    EXPECT_EQ(Fault(query), Invalid("distanceThreshold must be a finite number."));
  }

  query = Nearest();
  query.nearest->distance_result_field = Path("__name__");
  EXPECT_EQ(Fault(query),
            Invalid("The distanceResultField.property.name \"__name__\" is reserved."));
}

TEST(NormalizeTest, ChecksWhatStandsBesideTheSearchForNeighbours) {
  Query query = Nearest();
  query.where = Equal("x", 1);
  query.orders = {Descending("y")};
  EXPECT_EQ(Orders(query), "y desc, __name__ desc");
  query.end = Bound{{}, true};
  EXPECT_EQ(Fault(query), Invalid("A cursor cannot be used with FindNearest"));
  query.offset = 1;
  EXPECT_EQ(Fault(query), Invalid("A query offset cannot be used with FindNearest"));
  query.limit = 0;
  EXPECT_EQ(Fault(query), Invalid("A query limit cannot be used with FindNearest"));
  query.where = Is("__name__", Operator::kEqual, Int(1));
  EXPECT_EQ(Fault(query), kNotAKey);
}

// Which fault is reported where there are several, as the emulator does it.
TEST(NormalizeTest, ReportsFaultsInFirestoresOrder) {
  const Filter two_negations = And({Is("x", Operator::kIsNotNull), Is("y", Operator::kIsNotNull)});
  Query query = On("a/b", two_negations);
  query.start = Bound{{Int(1)}, true};
  EXPECT_NE(Fault(query), kOneNegation);
  query.collection_id = "c";
  EXPECT_EQ(Fault(query), kOneNegation);
  query.where = Is("__name__", Operator::kEqual, Int(1));
  EXPECT_EQ(Fault(query), Invalid("Cursor has too many values."));
  query.start.reset();
  query.orders = {Ascending("z"), Ascending("z")};
  EXPECT_EQ(Fault(query), kNotAKey);
  query.where = And(OnFields("f", 11, Operator::kGreater) + std::vector{In("x", 30), In("y", 2)});
  EXPECT_NE(Fault(query).find("distinct inequality fields"), std::string::npos);
  query.where = And({In("x", 30), In("y", 2)});
  EXPECT_EQ(Fault(query), TooMany(60));
}

Aggregation Count(const std::string& alias) {
  return {.kind = Aggregation::Kind::kCount, .alias = alias};
}
Aggregation Sum(const std::string& path) {
  return {.kind = Aggregation::Kind::kSum, .alias = path, .path = Path(path)};
}

TEST(NormalizeTest, ChecksAggregations) {
  EXPECT_EQ(Fault(CheckAggregations({})), Invalid("Aggregations can not be empty."));
  std::vector<Aggregation> aggregations;
  for (const char* alias : {"a b", "1a", "a.b", "`", "é"}) aggregations.push_back(Count(alias));
  EXPECT_EQ(Fault(CheckAggregations(aggregations)), "OK");
  aggregations.push_back(Count("f"));
  EXPECT_EQ(Fault(CheckAggregations(aggregations)),
            Invalid("The maximum number of aggregations allowed in an aggregation query is 5. "
                    "Received: 6."));
  EXPECT_EQ(Fault(CheckAggregations({Count("field_1"), Count("field_1")})),
            Invalid("Aggregation aliases contain duplicate alias: field_1."));
  EXPECT_EQ(Fault(CheckAggregations({Count("a"), Count("a"), Count("__x__")})),
            Invalid("The property.name \"__x__\" is reserved."));
  EXPECT_EQ(Fault(CheckAggregations({Count(std::string(1500, 'k'))})), "OK");
  EXPECT_EQ(Fault(CheckAggregations({Count(std::string(1501, 'k'))})),
            Invalid("The property.name is longer than 1500 bytes."));
  EXPECT_EQ(Fault(CheckAggregations({Count("____")})),
            Invalid("The property.name \"____\" is reserved."));
  Aggregation up_to = Count("n");
  up_to.up_to = 1;
  EXPECT_EQ(Fault(CheckAggregations({up_to})), "OK");
  up_to.up_to = 0;
  EXPECT_EQ(Fault(CheckAggregations({up_to})),
            Invalid("The `up_to` value in a COUNT aggregation must be greater than zero."));
  Aggregation of_name = Sum("__name__");
  of_name.alias = "n";
  EXPECT_EQ(Fault(CheckAggregations({of_name})),
            Invalid("Aggregations are not supported for the property: __key__"));
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
  EXPECT_EQ(AggregationOrders(On("a/b"), {Sum("p")}), Fault(On("a/b")));
  EXPECT_EQ(AggregationOrders(On("c"), {}), Invalid("Aggregations can not be empty."));
}

TEST(NormalizeTest, ChecksAggregatedFieldsAgainstTheQuery) {
  const auto needs = [](const std::string& fields) {
    return Invalid("This query requires an index that has fields " + fields +
                   " after __name__ and Firestore does not currently support such an index. Please "
                   "try the query again with additional ordering on those fields.");
  };
  const Query by_name = Ordered({Ascending("q"), Ascending("__name__")});
  EXPECT_EQ(AggregationOrders(by_name, {Sum("r"), Sum("p"), Sum("m.`k-2`")}),
            needs("[m.k-2, p, r]"));
  EXPECT_EQ(AggregationOrders(by_name, {Sum("q")}), "q, __name__");
  Query below = On("s", "c/a");
  below.all_descendants = true;
  EXPECT_EQ(AggregationOrders(below, {Sum("r")}), needs("[r]"));
  const Filter named = Is("__name__", Operator::kEqual, Ref("c/a"));
  EXPECT_EQ(AggregationOrders(On("c", named), {Sum("r")}), needs("[r]"));
  EXPECT_EQ(AggregationOrders(On("c", named), {Count("r")}), "__name__");

  Query selected = On("c");
  selected.select = {Path("q"), Path("m.x")};
  EXPECT_EQ(AggregationOrders(selected, {Count("q")}), "__name__");
  EXPECT_EQ(AggregationOrders(selected, {Sum("q")}),
            Invalid("Cannot apply property masks when aggregation fields are present."));
  EXPECT_EQ(
      AggregationOrders(selected, {Sum("m")}),
      Invalid("The aggregation property m is not present in the base query's property mask."));
  selected.select = {Path("__name__")};
  EXPECT_EQ(AggregationOrders(selected, {Sum("q")}),
            Invalid("Aggregation over non-key properties is not supported for base query that only "
                    "returns keys."));
}

}  // namespace
}  // namespace hearth::query
