#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "query/execution.h"
#include "query/query.h"

namespace hearth::query {

// The query as it is run for aggregations: a field that is summed up must be there, and orders the
// documents after the query's own orders, so that an index has all that is needed.
// InvalidArgument where the query's orders or projection leave no room for it.
Result<NormalizedQuery> ForAggregations(NormalizedQuery query,
                                        const std::vector<Aggregation>& aggregations);

// The encoded values of the aggregations, in order, over all that `execution` still has; reads
// documents only where its index entries do not have the fields.
Result<std::vector<std::string>> Aggregate(const Source& source, Execution* execution,
                                           const std::vector<Aggregation>& aggregations);

}  // namespace hearth::query
