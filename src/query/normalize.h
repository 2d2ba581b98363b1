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

// Filters that must all hold. Only kLess … kGreater, kArrayContains and kNotIn, with plain meanings:
// kEqual holds for values that CompareValues finds equivalent, null and NaN included; ranges stay
// within the type of their value and never hold for NaN; kNotEqual and kNotIn hold for every other
// value that is not null.
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

// The same for an aggregation over a query. InvalidArgument for no aggregations, too many, aliases
// used twice.
Status CheckAggregations(const std::vector<Aggregation>& aggregations);

}  // namespace hearth::query
