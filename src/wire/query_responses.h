// Answers to queries of google.firestore.v1.Firestore as protobuf bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/field_path.h"
#include "model/names.h"
#include "model/timestamp.h"
#include "query/bill.h"
#include "query/explain.h"
#include "query/query.h"
#include "request/query_result.h"
#include "wire/responses.h"

namespace hearth::wire {

// How results are turned into documents.
struct ResultForm {
  ReadMask mask;
  // The field for the distance of nearest neighbours. The mask applies to it like to any other
  // field.
  std::optional<model::FieldPath> distance_field;
};

// google.firestore.v1.Document.
std::string EncodeResultDocument(const model::DatabaseName& database,
                                 const request::QueryResult& result, const ResultForm& form);

// One RunQueryResponse. Empty, absent or zero fields are omitted.
struct QueryAnswer {
  std::string document;  // Encoded.
  std::optional<model::Timestamp> read_time;
  size_t skipped_results = 0;  // Since the previous answer.
  bool done = false;
  std::string explain_metrics;  // Encoded.
};
std::string EncodeQueryAnswer(const QueryAnswer& answer);

// RunQueryResponse or RunAggregationQueryResponse that contains only a new transaction.
std::string EncodeQueryTransaction(std::string_view transaction);

// One RunAggregationQueryResponse.
struct AggregationAnswer {
  std::optional<std::string> result;  // Encoded.
  std::optional<model::Timestamp> read_time;
  std::string explain_metrics;  // Encoded.
};
std::string EncodeAggregationAnswer(const AggregationAnswer& answer);

// AggregationResult. `values`: encoded, one per aggregation.
std::string EncodeAggregationResult(const std::vector<query::Aggregation>& aggregations,
                                    const std::vector<std::string>& values);

// PartitionQueryResponse.
std::string EncodePartitionPage(const std::vector<query::Bound>& bounds,
                                std::string_view next_page_token);

// The cost of running a query.
struct Execution {
  query::Statistics statistics;
  std::chrono::nanoseconds duration;
  query::Bill bill;
};

// ExplainMetrics; without `execution`, for a query that was only planned.
std::string EncodeExplainMetrics(const std::vector<query::IndexUse>& indexes,
                                 const std::optional<Execution>& execution);

}  // namespace hearth::wire
