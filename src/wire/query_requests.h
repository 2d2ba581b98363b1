// Query requests of google.firestore.v1.Firestore, from protobuf to the query's own types. Only the
// form of a message is checked here; query::Normalize checks whether the query is valid.
//
// Errors: InvalidArgument, in Firestore's words, for every possible client error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "google/firestore/v1/firestore.pb.h"
#include "google/firestore/v1/query.pb.h"
#include "model/names.h"
#include "query/query.h"
#include "request/consistency.h"
#include "wire/partition_page.h"
#include "wire/requests.h"

namespace hearth::wire {

// The maximum number of partition points per request, and per page.
inline constexpr size_t kPartitionPointsMax = 10'000;
inline constexpr size_t kPartitionPageSizeMax = 300;

// The explain information that a client requests for its query.
enum class Explain : uint8_t {
  kNothing,
  kPlan,     // Instead of the results.
  kAnalyze,  // In addition to the results, after the last one.
};

struct QueryRequest {
  query::Query query;
  request::Consistency consistency;
  Explain explain;
};

struct AggregationRequest {
  QueryRequest base;
  // Each with an alias, explicit or default. Not yet checked for duplicates.
  std::vector<query::Aggregation> aggregations;
};

struct PartitionRequest {
  query::Query query;
  request::Consistency consistency;
  size_t points_max;  // 1 to kPartitionPointsMax.
  size_t page_size;   // 1 to kPartitionPageSizeMax.
  PartitionProgress progress;
  std::string identity;  // Equal for all requests for pages of one set of points.
};

// A query on the collections below `parent`. The limit of nearest neighbours is 0 if the message
// has none or an invalid one.
Result<query::Query> ReadQuery(const model::ParentName& parent,
                               const proto::StructuredQuery& query);

Result<QueryRequest> ReadRunQuery(const proto::RunQueryRequest& request);
Result<AggregationRequest> ReadRunAggregationQuery(
    const proto::RunAggregationQueryRequest& request);
// InvalidArgument also for queries that cannot be partitioned: all but plain ones on a collection
// group, in the order of names.
Result<PartitionRequest> ReadPartitionQuery(const proto::PartitionQueryRequest& request);

}  // namespace hearth::wire
