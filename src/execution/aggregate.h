#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "execution/execution.h"
#include "query/query.h"

namespace hearth::execution {

// The encoded values of the aggregations, in order, over all that `execution` still has; reads
// documents only where its index entries do not have the fields.
Result<std::vector<std::string>> Aggregate(Execution* execution,
                                           const std::vector<query::Aggregation>& aggregations);

}  // namespace hearth::execution
