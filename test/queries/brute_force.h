// Answers a query by looking at every document: deliberately simple, slow, and written only from
// the documented meaning of queries.
#pragma once

#include <string>
#include <vector>

#include "queries/trees.h"
#include "query/query.h"

namespace hearth::queries {

// The paths of the results, in order. Requires a query that Firestore accepts.
std::vector<std::string> Evaluate(const query::Query& query, const Documents& documents);

// One value per aggregation.
std::vector<Tree> EvaluateAggregations(const query::Query& query,
                                       const std::vector<query::Aggregation>& aggregations,
                                       const Documents& documents);

std::string Show(const query::Filter& filter);
std::string Show(const query::Query& query);
std::string Show(const std::vector<query::Aggregation>& aggregations);

}  // namespace hearth::queries
