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

// How results become documents.
struct ResultForm {
  ReadMask mask;
  // Where the distance of nearest neighbours goes. The mask covers it like any other field.
  std::optional<model::FieldPath> distance_field;
};

// google.firestore.v1.Document.
std::string EncodeResultDocument(const model::DatabaseName& database,
                                 const request::QueryResult& result, const ResultForm& form);

// One RunQueryResponse. What is empty, absent or zero is left out.
struct QueryAnswer {
  std::string document;  // Encoded.
  std::optional<model::Timestamp> read_time;
  size_t skipped_results = 0;  // Since the answer before.
  bool done = false;
  std::string explain_metrics;  // Encoded.
};
std::string EncodeQueryAnswer(const QueryAnswer& answer);

// RunQueryResponse, and RunAggregationQueryResponse, when they carry nothing but a new transaction.
std::string EncodeQueryTransaction(std::string_view transaction);

// One RunAggregationQueryResponse.
struct AggregationAnswer {
  std::optional<std::string> result;  // Encoded.
  std::optional<model::Timestamp> read_time;
  std::string explain_metrics;  // Encoded.
};
std::string EncodeAggregationAnswer(const AggregationAnswer& answer);

// AggregationResult. `values`: encoded, one for each of the aggregations.
std::string EncodeAggregationResult(const std::vector<query::Aggregation>& aggregations,
                                    const std::vector<std::string>& values);

// PartitionQueryResponse.
std::string EncodePartitionPage(const std::vector<query::Bound>& bounds,
                                std::string_view next_page_token);

// What running a query has cost.
struct Execution {
  query::Statistics statistics;
  std::chrono::nanoseconds duration;
  query::Bill bill;
};

// ExplainMetrics; without `execution`, of a query that has only been planned.
std::string EncodeExplainMetrics(const std::vector<query::IndexUse>& indexes,
                                 const std::optional<Execution>& execution);

}  // namespace hearth::wire
