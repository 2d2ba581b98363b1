#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "execution/execution.h"
#include "query/query.h"

namespace hearth::execution {

// The encoded values of the aggregations, in order, over all remaining results of `execution`.
// Reads documents only if its index entries lack the fields.
Result<std::vector<std::string>> Aggregate(Execution* execution,
                                           const std::vector<query::Aggregation>& aggregations);

}  // namespace hearth::execution
