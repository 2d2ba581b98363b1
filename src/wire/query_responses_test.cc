#include "wire/query_responses.h"

#include <gtest/gtest.h>

#include <cmath>

#include "google/firestore/v1/firestore.pb.h"
#include "google/firestore/v1/query_profile.pb.h"
#include "request/testing/writes.h"
#include "wire/testing/messages.h"

namespace hearth::wire {
namespace {

namespace proto = ::google::firestore::v1;
using model::EncodeDouble;
using model::EncodeInteger;
using model::EncodeMap;
using model::EncodeNull;
using model::EncodeReference;
using model::EncodeString;
using model::Timestamp;
using request::QueryResult;

constexpr Timestamp kReadTime = Timestamp::FromMicros(1'800'000'000'000'001);
constexpr char kReadTimeText[] = "read_time { seconds: 1800000000 nanos: 1000 } ";

// Fails unless libprotobuf parses `bytes` to the message that `text` describes in text format.
template <typename Message>
void ExpectReads(const std::string& bytes, const std::string& text) {
  ExpectEqual(FromBytes<Message>(bytes), FromText<Message>(text));
}

std::string DocumentText(const std::string& fields) {
  return "name: 'projects/p1/databases/(default)/documents/c/a' create_time { seconds: 1700000000 "
         "} update_time { seconds: 1700000001 nanos: 234567000 } " +
         fields;
}

std::string FieldText(const std::string& name, const std::string& value) {
  return "fields { key: '" + name + "' value { " + value + " } } ";
}

QueryResult ResultOf(const model::Fields& fields, std::optional<double> distance = std::nullopt) {
  return {Path("c/a"), std::make_shared<const std::string>(RecordOf(kCreated, kUpdated, fields)),
          distance};
}

QueryResult TwoFields(std::optional<double> distance = std::nullopt) {
  return ResultOf(MakeFields({{"a", EncodeInteger(1)}, {"b", EncodeInteger(2)}}), distance);
}

std::string Encode(const QueryResult& result, const ResultForm& form) {
  return EncodeResultDocument(NameDatabase(), result, form);
}

// The fields of TwoFields.
constexpr char kA[] = "fields { key: 'a' value { integer_value: 1 } } ";
constexpr char kB[] = "fields { key: 'b' value { integer_value: 2 } } ";
constexpr char kBoth[] =
    "fields { key: 'a' value { integer_value: 1 } } fields { key: 'b' value { integer_value: 2 } "
    "} ";

TEST(EncodeResultDocumentTest, WholeOrProjected) {
  ExpectReads<proto::Document>(Encode(TwoFields(), {}), DocumentText(kBoth));
  ExpectReads<proto::Document>(Encode(TwoFields(), {{{FieldAt("b")}}, {}}), DocumentText(kB));
  ExpectReads<proto::Document>(Encode(TwoFields(), {{{FieldAt("__name__")}}, {}}),
                               DocumentText(""));
  ExpectReads<proto::Document>(Encode(TwoFields(), {std::vector<model::FieldPath>(), {}}),
                               DocumentText(""));
}

TEST(EncodeResultDocumentTest, ADistanceIsAFieldLikeOthers) {
  const ResultForm form = {{}, FieldAt("distance")};
  const std::string distance = FieldText("distance", "double_value: 0.5");
  ExpectReads<proto::Document>(Encode(TwoFields(0.5), form), DocumentText(kBoth + distance));
  ExpectReads<proto::Document>(Encode(TwoFields(0), form),
                               DocumentText(kBoth + FieldText("distance", "double_value: 0")));
  ExpectReads<proto::Document>(Encode(TwoFields(0.5), {}), DocumentText(kBoth));
  ExpectReads<proto::Document>(Encode(TwoFields(), form), DocumentText(kBoth));
  // It replaces a stored field.
  ExpectReads<proto::Document>(Encode(TwoFields(0.5), {{}, FieldAt("a")}),
                               DocumentText(kB + FieldText("a", "double_value: 0.5")));
  ExpectReads<proto::Document>(Encode(TwoFields(0.5), {{}, FieldAt("`g.d`")}),
                               DocumentText(kBoth + FieldText("g.d", "double_value: 0.5")));
}

TEST(EncodeResultDocumentTest, TheMaskCoversTheDistance) {
  ExpectReads<proto::Document>(Encode(TwoFields(0.5), {{{FieldAt("a")}}, FieldAt("d")}),
                               DocumentText(kA));
  ExpectReads<proto::Document>(
      Encode(TwoFields(0.5), {{{FieldAt("a"), FieldAt("d")}}, FieldAt("d")}),
      DocumentText(kA + FieldText("d", "double_value: 0.5")));
}

TEST(EncodeResultDocumentTest, DistancesCanBeOutOfBounds) {
  for (const auto& [distance, text] :
       {std::pair{std::nan(""), "nan"}, {INFINITY, "inf"}, {-INFINITY, "-inf"}}) {
    ExpectReads<proto::Document>(
        Encode(TwoFields(distance), {{}, FieldAt("d")}),
        DocumentText(kBoth + FieldText("d", std::string("double_value: ") + text)));
  }
}

TEST(EncodeQueryAnswerTest, EachPartAlone) {
  ExpectReads<proto::RunQueryResponse>(EncodeQueryAnswer({}), "");
  QueryAnswer answer;
  answer.document = Encode(TwoFields(), {});
  ExpectReads<proto::RunQueryResponse>(EncodeQueryAnswer(answer),
                                       "document { " + DocumentText(kBoth) + "}");
  answer = {};
  answer.read_time = kReadTime;
  ExpectReads<proto::RunQueryResponse>(EncodeQueryAnswer(answer), kReadTimeText);
  answer = {};
  answer.skipped_results = 300;
  ExpectReads<proto::RunQueryResponse>(EncodeQueryAnswer(answer), "skipped_results: 300");
  answer = {};
  answer.done = true;
  ExpectReads<proto::RunQueryResponse>(EncodeQueryAnswer(answer), "done: true");
  answer = {};
  answer.explain_metrics = EncodeExplainMetrics({}, std::nullopt);
  ExpectReads<proto::RunQueryResponse>(EncodeQueryAnswer(answer),
                                       "explain_metrics { plan_summary {} }");
}

TEST(EncodeQueryAnswerTest, AllPartsTogether) {
  const QueryAnswer answer = {Encode(TwoFields(), {}), kReadTime, 2, true,
                              EncodeExplainMetrics({}, std::nullopt)};
  ExpectReads<proto::RunQueryResponse>(EncodeQueryAnswer(answer),
                                       "document { " + DocumentText(kBoth) + "} " + kReadTimeText +
                                           "skipped_results: 2 done: true explain_metrics { "
                                           "plan_summary {} }");
}

TEST(EncodeQueryAnswerTest, ANewTransactionComesAlone) {
  const std::string transaction("\x00\xff t", 4);
  ExpectReads<proto::RunQueryResponse>(EncodeQueryTransaction(transaction),
                                       "transaction: '\\000\\377 t'");
  ExpectReads<proto::RunAggregationQueryResponse>(EncodeQueryTransaction(transaction),
                                                  "transaction: '\\000\\377 t'");
}

query::Aggregation Named(const std::string& alias) {
  return {query::Aggregation::Kind::kCount, alias, {}, {}};
}

TEST(EncodeAggregationTest, ValuesByAlias) {
  AggregationAnswer answer;
  answer.result = EncodeAggregationResult({Named("z"), Named("a b"), Named("m")},
                                          {EncodeInteger(7), EncodeNull(), EncodeDouble(1.5)});
  answer.read_time = kReadTime;
  ExpectReads<proto::RunAggregationQueryResponse>(
      EncodeAggregationAnswer(answer),
      "result { aggregate_fields { key: 'z' value { integer_value: 7 } } aggregate_fields { key: "
      "'a b' value { null_value: NULL_VALUE } } aggregate_fields { key: 'm' value { double_value: "
      "1.5 } } } " +
          std::string(kReadTimeText));
}

TEST(EncodeAggregationTest, PlansHaveNoResult) {
  AggregationAnswer answer;
  answer.explain_metrics = EncodeExplainMetrics({}, std::nullopt);
  ExpectReads<proto::RunAggregationQueryResponse>(EncodeAggregationAnswer(answer),
                                                  "explain_metrics { plan_summary {} }");
  answer.result = "";
  ExpectReads<proto::RunAggregationQueryResponse>(EncodeAggregationAnswer(answer),
                                                  "result {} explain_metrics { plan_summary {} }");
}

TEST(EncodePartitionPageTest, CursorsAndToken) {
  ExpectReads<proto::PartitionQueryResponse>(EncodePartitionPage({}, ""), "");
  const std::string name = "projects/p1/databases/(default)/documents/c/a";
  ExpectReads<proto::PartitionQueryResponse>(
      EncodePartitionPage({{{EncodeReference(name)}, true}, {{EncodeString("x")}, false}}, "next"),
      "partitions { values { reference_value: '" + name +
          "' } before: true } partitions { values { string_value: 'x' } } next_page_token: 'next'");
}

std::string StructField(const std::string& name, const std::string& value) {
  return "fields { key: '" + name + "' value { " + value + " } } ";
}

std::string TextField(const std::string& name, const std::string& text) {
  return StructField(name, "string_value: '" + text + "'");
}

TEST(EncodeExplainMetricsTest, Plan) {
  ExpectReads<proto::ExplainMetrics>(
      EncodeExplainMetrics(
          {{"Collection", "(foo ASC, __name__ ASC)"}, {"Collection group", "(bar DESC)"}},
          std::nullopt),
      "plan_summary { indexes_used { " + TextField("query_scope", "Collection") +
          TextField("properties", "(foo ASC, __name__ ASC)") + "} indexes_used { " +
          TextField("query_scope", "Collection group") + TextField("properties", "(bar DESC)") +
          "} }");
}

TEST(EncodeExplainMetricsTest, ExecutionStats) {
  const Execution execution = {{.results_returned = 5,
                                .index_entries_scanned = 1'008,
                                .documents_scanned = 6,
                                .results_skipped = 2},
                               std::chrono::nanoseconds(2'000'000'003),
                               {.documents = 7, .index_entries = 1'001, .minimum = 0}};
  ExpectReads<proto::ExplainMetrics>(
      EncodeExplainMetrics({}, execution),
      "plan_summary {} execution_stats { results_returned: 5 execution_duration { seconds: 2 "
      "nanos: 3 } read_operations: 9 debug_stats { " +
          StructField("billing_details", "struct_value { " + TextField("documents_billable", "7") +
                                             TextField("index_entries_billable", "1001") +
                                             TextField("small_ops", "0") +
                                             TextField("min_query_cost", "0") + "}") +
          TextField("documents_scanned", "6") + TextField("index_entries_scanned", "1008") + "} }");
}

TEST(EncodeExplainMetricsTest, TakesSomeTime) {
  const Execution execution = {{}, std::chrono::nanoseconds(0), {}};
  proto::ExplainMetrics metrics;
  ASSERT_TRUE(metrics.ParseFromString(EncodeExplainMetrics({}, execution)));
  EXPECT_EQ(metrics.execution_stats().execution_duration().nanos(), 1);
}

}  // namespace
}  // namespace hearth::wire
