#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "query/query.h"

namespace hearth::query {

inline constexpr size_t kDisjunctionsMax = 30;
inline constexpr size_t kNotInValuesMax = 10;
inline constexpr size_t kInequalityFieldsMax = 10;
inline constexpr size_t kFiltersAndOrdersMax = 100;
inline constexpr size_t kNearestResultsMax = 1'000;
inline constexpr size_t kAggregationsMax = 5;
// By Firestore's size formula. An operand of a filter must fit into an index.
inline constexpr size_t kOperandBytesMax = 1'500;

// Filters that must all hold. Only kLess … kGreater, kArrayContains and kNotIn occur, with simple
// meanings: kEqual holds for values that CompareValues finds equivalent, null and NaN included;
// ranges match only values of their operand's type and never NaN; kNotEqual and kNotIn hold for
// every other value that is not null.
struct Conjunction {
  std::vector<FieldFilter> filters;
};

// A valid query in the form that planners and matchers use.
struct NormalizedQuery {
  Query query;
  // The filter as a disjunction, with `in` and `array-contains-any` expanded. One conjunction
  // without filters if the query has no filter. Empty if nothing can match (a comparison with null,
  // for example).
  std::vector<Conjunction> disjuncts;
  // All orders, including the implicit ones: those that the client stated, then the fields of
  // inequalities in the order of their paths, then `__name__`. The implicit ones have the direction
  // of the last stated one. The last is always `__name__`; an order after it would have no effect.
  std::vector<Order> orders;
};

// Checks a query and makes its implicit parts explicit. InvalidArgument, with Firestore's message,
// which says what is wrong.
Result<NormalizedQuery> Normalize(Query query);

// InvalidArgument if there are no aggregations or too many, for aliases that are reserved, too long
// or used twice, and for sums and averages of names.
Status CheckAggregations(const std::vector<Aggregation>& aggregations);

// The query and the aggregations over it. Fields that are summed or averaged become orders, after
// those of inequalities: all aggregations ignore documents that lack one of these fields.
Result<NormalizedQuery> Normalize(Query query, const std::vector<Aggregation>& aggregations);

}  // namespace hearth::query
