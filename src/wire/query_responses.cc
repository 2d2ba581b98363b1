#include "wire/query_responses.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "model/document.h"
#include "model/fields.h"
#include "model/value.h"
#include "model/wire_format.h"
#include "wire/message_parts.h"

namespace hearth::wire {
namespace {

using model::AppendBytes;

// google.protobuf.Value with a string.
std::string EncodeTextValue(std::string_view text) {
  std::string bytes;
  AppendBytes(BytesTag(3), text, &bytes);
  return bytes;
}

std::string EncodeCountValue(uint64_t count) { return EncodeTextValue(std::to_string(count)); }

// google.protobuf.Struct. `fields`: names and encoded google.protobuf.Values.
std::string EncodeStruct(const std::vector<std::pair<std::string_view, std::string>>& fields) {
  std::string bytes;
  for (const auto& [name, value] : fields) {
    std::string entry;
    AppendBytes(BytesTag(1), name, &entry);
    AppendBytes(BytesTag(2), value, &entry);
    AppendBytes(BytesTag(1), entry, &bytes);
  }
  return bytes;
}

std::string EncodeStructValue(const std::vector<std::pair<std::string_view, std::string>>& fields) {
  std::string bytes;
  AppendBytes(BytesTag(5), EncodeStruct(fields), &bytes);
  return bytes;
}

std::string EncodePlanSummary(const std::vector<query::IndexUse>& indexes) {
  std::string bytes;
  for (const query::IndexUse& index : indexes) {
    AppendBytes(BytesTag(1),
                EncodeStruct({{"query_scope", EncodeTextValue(index.query_scope)},
                              {"properties", EncodeTextValue(index.properties)}}),
                &bytes);
  }
  return bytes;
}

// ExecutionStats.
std::string EncodeExecutionStats(const Execution& execution) {
  const query::Statistics& statistics = execution.statistics;
  const query::Bill& bill = execution.bill;
  const std::string debug_stats = EncodeStruct({
      {"billing_details", EncodeStructValue({
                              {"documents_billable", EncodeCountValue(bill.documents)},
                              {"index_entries_billable", EncodeCountValue(bill.index_entries)},
                              {"min_query_cost", EncodeCountValue(bill.minimum)},
                              {"small_ops", EncodeCountValue(0)},
                          })},
      {"documents_scanned", EncodeCountValue(statistics.documents_scanned)},
      {"index_entries_scanned", EncodeCountValue(statistics.index_entries_scanned)},
  });
  // Clients treat a zero duration as a missing measurement.
  const std::chrono::nanoseconds duration =
      std::max(execution.duration, std::chrono::nanoseconds(1));
  constexpr int64_t kNanosPerSecond = 1'000'000'000;
  std::string bytes;
  AppendNumber(1, static_cast<int64_t>(statistics.results_returned), &bytes);
  AppendBytes(BytesTag(3),
              EncodeSecondsAndNanos(duration.count() / kNanosPerSecond,
                                    static_cast<int32_t>(duration.count() % kNanosPerSecond)),
              &bytes);
  AppendNumber(4, static_cast<int64_t>(bill.ReadOperations()), &bytes);
  AppendBytes(BytesTag(5), debug_stats, &bytes);
  return bytes;
}

// The record with the distance added to its fields.
std::string AddDistance(const std::string& record, const model::FieldPath& path, double distance) {
  model::FieldEditor editor(model::Fields::FromTrusted(std::string(model::RecordFields(record))));
  editor.Set(path, model::EncodeDouble(distance));
  return model::EncodeRecord(model::RecordCreateTime(record), model::RecordUpdateTime(record),
                             editor.Finish());
}

std::string EncodeCursor(const query::Bound& bound) {
  std::string bytes;
  for (const std::string& value : bound.values) AppendBytes(BytesTag(1), value, &bytes);
  AppendNumber(2, bound.before ? 1 : 0, &bytes);
  return bytes;
}

}  // namespace

std::string EncodeResultDocument(const model::DatabaseName& database,
                                 const request::QueryResult& result, const ResultForm& form) {
  const std::string name = database.text() + "/documents/" + result.path.path();
  if (!form.distance_field || !result.distance) {
    return EncodeDocument(name, *result.record, form.mask);
  }
  return EncodeDocument(name, AddDistance(*result.record, *form.distance_field, *result.distance),
                        form.mask);
}

std::string EncodeQueryAnswer(const QueryAnswer& answer) {
  std::string bytes;
  if (!answer.document.empty()) AppendBytes(BytesTag(1), answer.document, &bytes);
  if (answer.read_time) AppendBytes(BytesTag(3), EncodeTime(*answer.read_time), &bytes);
  AppendNumber(4, static_cast<int64_t>(answer.skipped_results), &bytes);
  AppendNumber(6, answer.done ? 1 : 0, &bytes);
  if (!answer.explain_metrics.empty()) AppendBytes(BytesTag(11), answer.explain_metrics, &bytes);
  return bytes;
}

std::string EncodeQueryTransaction(std::string_view transaction) {
  std::string bytes;
  AppendBytes(BytesTag(2), transaction, &bytes);
  return bytes;
}

std::string EncodeAggregationAnswer(const AggregationAnswer& answer) {
  std::string bytes;
  if (answer.result) AppendBytes(BytesTag(1), *answer.result, &bytes);
  if (answer.read_time) AppendBytes(BytesTag(3), EncodeTime(*answer.read_time), &bytes);
  if (!answer.explain_metrics.empty()) AppendBytes(BytesTag(10), answer.explain_metrics, &bytes);
  return bytes;
}

std::string EncodeAggregationResult(const std::vector<query::Aggregation>& aggregations,
                                    const std::vector<std::string>& values) {
  CHECK(aggregations.size() == values.size());
  // The map of results has the same field number as the map of a document's fields.
  std::string bytes;
  for (size_t i = 0; i < values.size(); ++i) {
    model::AppendField(model::MapView::Tag::kDocument, aggregations[i].alias, values[i], &bytes);
  }
  return bytes;
}

std::string EncodePartitionPage(const std::vector<query::Bound>& bounds,
                                std::string_view next_page_token) {
  std::string bytes;
  for (const query::Bound& bound : bounds) AppendBytes(BytesTag(1), EncodeCursor(bound), &bytes);
  if (!next_page_token.empty()) AppendBytes(BytesTag(2), next_page_token, &bytes);
  return bytes;
}

std::string EncodeExplainMetrics(const std::vector<query::IndexUse>& indexes,
                                 const std::optional<Execution>& execution) {
  std::string bytes;
  AppendBytes(BytesTag(1), EncodePlanSummary(indexes), &bytes);
  if (execution) AppendBytes(BytesTag(2), EncodeExecutionStats(*execution), &bytes);
  return bytes;
}

}  // namespace hearth::wire
