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
// By Firestore's formula for sizes. A value that a filter compares with must fit into an index.
inline constexpr size_t kOperandBytesMax = 1'500;

// Filters that must all hold. Only kLess … kGreater, kArrayContains and kNotIn, with plain
// meanings: kEqual holds for values that CompareValues finds equivalent, null and NaN included;
// ranges stay within the type of their value and never hold for NaN; kNotEqual and kNotIn hold for
// every other value that is not null.
struct Conjunction {
  std::vector<FieldFilter> filters;
};

// A valid query in the form that planners and matchers use.
struct NormalizedQuery {
  Query query;
  // The filter as a disjunction; `in` and `array-contains-any` are taken apart too. One
  // conjunction without filters where the query has no filter; none at all where nothing can match
  // (a comparison with null, say).
  std::vector<Conjunction> disjuncts;
  // All orders, the implicit ones included: what the client stated, then the fields of
  // inequalities in the order of their paths, then `__name__`, each of the implicit ones in the
  // direction of the last one stated. The last is always `__name__`; after it nothing counts.
  std::vector<Order> orders;
};

// Checks a query and makes its implicit parts explicit. InvalidArgument, in Firestore's words, with
// the part that is wrong.
Result<NormalizedQuery> Normalize(Query query);

// InvalidArgument for no aggregations, too many, aliases that are reserved, too long or used twice,
// sums and averages of names.
Status CheckAggregations(const std::vector<Aggregation>& aggregations);

// The query and the aggregations over it. Fields that are summed up or averaged become orders,
// after those of inequalities: all aggregations leave out documents that lack one of them.
Result<NormalizedQuery> Normalize(Query query, const std::vector<Aggregation>& aggregations);

}  // namespace hearth::query
