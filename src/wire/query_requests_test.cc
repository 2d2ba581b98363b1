#include "wire/query_requests.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/limits.h"
#include "model/value.h"
#include "request/page_token.h"
#include "request/testing/writes.h"
#include "wire/testing/messages.h"

namespace hearth::wire {
namespace {

using model::EncodeArray;
using model::EncodeInteger;
using model::EncodeReference;
using model::EncodeString;
using query::Aggregation;
using query::CompositeFilter;
using query::FieldFilter;
using query::Operator;
using query::Order;
using query::Query;
using query::SortDirection;

constexpr char kRoot[] = "projects/p1/databases/(default)/documents";
constexpr char kUnset[] = "Cannot convert firestore.v1.Value with type unset.";

Result<Query> Read(const std::string& text) {
  return ReadQuery(Parent(), FromText<proto::StructuredQuery>(text));
}

Status Verdict(const std::string& text) { return Read(text).status(); }

// The only filter of a query.
FieldFilter ReadFieldFilter(const std::string& text) {
  const Result<Query> query = Read("where { " + text + " }");
  EXPECT_EQ(query.status(), Status()) << text;
  return std::get<FieldFilter>(query->where->filter);
}

Status FilterVerdict(const std::string& text) { return Verdict("where { " + text + " }"); }

TEST(ReadQueryTest, AnEmptyMessageAsksForEverythingBelowTheParent) {
  const Result<Query> query = Read("");
  ASSERT_EQ(query.status(), Status());
  EXPECT_EQ(query->parent.database, NameDatabase());
  EXPECT_EQ(query->parent.document_path, "");
  EXPECT_EQ(query->collection_id, "");
  EXPECT_FALSE(query->all_descendants);
  EXPECT_FALSE(query->where || query->start || query->end || query->limit || query->select ||
               query->nearest);
  EXPECT_TRUE(query->orders.empty());
  EXPECT_EQ(query->offset, 0);
}

TEST(ReadQueryTest, ReadsTheSelector) {
  EXPECT_EQ(Read("from {}")->collection_id, "");
  EXPECT_EQ(Read("from { collection_id: 'c' }")->collection_id, "c");
  EXPECT_FALSE(Read("from { collection_id: 'c' }")->all_descendants);
  EXPECT_TRUE(Read("from { collection_id: 'c' all_descendants: true }")->all_descendants);
  EXPECT_EQ(Verdict("from { collection_id: 'c' } from { collection_id: 'd' }"),
            InvalidArgument("StructuredQuery.from cannot have more than one collection selector."));
}

TEST(ReadQueryTest, ReadsFieldFilters) {
  const std::vector<std::pair<std::string, Operator>> operators = {
      {"LESS_THAN", Operator::kLess},
      {"LESS_THAN_OR_EQUAL", Operator::kLessOrEqual},
      {"GREATER_THAN", Operator::kGreater},
      {"GREATER_THAN_OR_EQUAL", Operator::kGreaterOrEqual},
      {"EQUAL", Operator::kEqual},
      {"NOT_EQUAL", Operator::kNotEqual},
      {"ARRAY_CONTAINS", Operator::kArrayContains},
  };
  for (const auto& [name, op] : operators) {
    const FieldFilter filter = ReadFieldFilter(
        "field_filter { field { field_path: 'a.b' } op: " + name + " value { integer_value: 7 } }");
    EXPECT_EQ(filter.path, FieldAt("a.b"));
    EXPECT_EQ(filter.op, op) << name;
    EXPECT_EQ(filter.value, EncodeInteger(7));
  }
}

TEST(ReadQueryTest, ReadsFiltersWithChoices) {
  const std::vector<std::pair<std::string, Operator>> operators = {
      {"IN", Operator::kIn},
      {"NOT_IN", Operator::kNotIn},
      {"ARRAY_CONTAINS_ANY", Operator::kArrayContainsAny},
  };
  const std::string vector =
      "map_value { fields { key: '__type__' value { string_value: '__vector__' } } fields { key: "
      "'value' value { array_value { values { double_value: 1 } } } } }";
  for (const auto& [name, op] : operators) {
    const std::string start = "field_filter { field { field_path: 'a' } op: " + name + " value { ";
    const FieldFilter filter = ReadFieldFilter(start +
                                               "array_value { values { integer_value: 1 } values { "
                                               "array_value { values { integer_value: 2 "
                                               "} } } } } }");
    EXPECT_EQ(filter.op, op) << name;
    EXPECT_EQ(filter.value, EncodeArray({EncodeInteger(1), EncodeArray({EncodeInteger(2)})}));
    EXPECT_NE(ReadFieldFilter(start + "array_value { values { " + vector + " } } } }").value, "");
    EXPECT_EQ(ReadFieldFilter(start + "array_value {} } }").value, EncodeArray({}));
    // A value that is not an array is not an error of form.
    EXPECT_EQ(ReadFieldFilter(start + "integer_value: 1 } }").value, EncodeInteger(1));
    EXPECT_EQ(FilterVerdict(start + "array_value { values {} } } }"), InvalidArgument(kUnset));
    EXPECT_EQ(FilterVerdict(start + "} }"), InvalidArgument(kUnset));
    EXPECT_EQ(FilterVerdict(start +
                            "array_value { values { array_value { values { array_value {} } } } } "
                            "} }"),
              InvalidArgument("Cannot convert an array value in an array value."));
  }
}

TEST(ReadQueryTest, OperandsBecomeCanonical) {
  const FieldFilter filter = ReadFieldFilter(
      "field_filter { field { field_path: 'a' } op: EQUAL value { map_value { fields { key: 'z' "
      "value { timestamp_value { seconds: 1 nanos: 1234 } } } fields { key: 'b' value { "
      "integer_value: 1 } } } } }");
  EXPECT_EQ(
      filter.value,
      model::EncodeMap({{"b", EncodeInteger(1)},
                        {"z", model::EncodeTimestamp(model::Timestamp::FromMicros(1'000'001))}}));
}

TEST(ReadQueryTest, IgnoresUnknownFieldsOfOperands) {
  auto message = FromText<proto::StructuredQuery>(
      "where { field_filter { field { field_path: 'a' } op: EQUAL value { integer_value: 7 } } }");
  proto::Value* value = message.mutable_where()->mutable_field_filter()->mutable_value();
  value->GetReflection()->MutableUnknownFields(value)->AddVarint(999, 7);
  const Result<Query> query = ReadQuery(Parent(), message);
  ASSERT_EQ(query.status(), Status());
  EXPECT_EQ(std::get<FieldFilter>(query->where->filter).value, EncodeInteger(7));
}

TEST(ReadQueryTest, ReadsUnaryFilters) {
  const std::vector<std::pair<std::string, Operator>> operators = {
      {"IS_NAN", Operator::kIsNan},
      {"IS_NULL", Operator::kIsNull},
      {"IS_NOT_NAN", Operator::kIsNotNan},
      {"IS_NOT_NULL", Operator::kIsNotNull},
  };
  for (const auto& [name, op] : operators) {
    const FieldFilter filter =
        ReadFieldFilter("unary_filter { op: " + name + " field { field_path: 'a' } }");
    EXPECT_EQ(filter.path, FieldAt("a"));
    EXPECT_EQ(filter.op, op) << name;
    EXPECT_EQ(filter.value, "");
  }
}

TEST(ReadQueryTest, ReadsCompositeFilters) {
  const std::string is_nan = "filters { unary_filter { op: IS_NAN field { field_path: 'a' } } } ";
  const Result<Query> query =
      Read("where { composite_filter { op: AND " + is_nan + "filters { composite_filter { op: OR " +
           is_nan + is_nan + " } } } }");
  ASSERT_EQ(query.status(), Status());
  const auto& outer = std::get<CompositeFilter>(query->where->filter);
  EXPECT_EQ(outer.op, CompositeFilter::Operator::kAnd);
  ASSERT_EQ(outer.filters.size(), 2);
  EXPECT_EQ(std::get<FieldFilter>(outer.filters[0].filter).op, Operator::kIsNan);
  const auto& inner = std::get<CompositeFilter>(outer.filters[1].filter);
  EXPECT_EQ(inner.op, CompositeFilter::Operator::kOr);
  EXPECT_EQ(inner.filters.size(), 2);
}

TEST(ReadQueryTest, ReadsOrders) {
  const Result<Query> query = Read(
      "order_by { field { field_path: 'a' } } order_by { field { field_path: 'b.c' } direction: "
      "DESCENDING } order_by { field { field_path: '__name__' } direction: ASCENDING }");
  ASSERT_EQ(query.status(), Status());
  EXPECT_EQ(query->orders, (std::vector<Order>{{FieldAt("a"), SortDirection::kAscending},
                                               {FieldAt("b.c"), SortDirection::kDescending},
                                               {FieldAt("__name__"), SortDirection::kAscending}}));
}

TEST(ReadQueryTest, ReadsCursors) {
  const std::string name = std::string(kRoot) + "/c/a";
  const Result<Query> query = Read(
      "start_at { values { integer_value: 1 } before: true } end_at { "
      "values { string_value: 'x' } values { reference_value: '" +
      name + "' } }");
  ASSERT_EQ(query.status(), Status());
  EXPECT_EQ(query->start->values, std::vector<std::string>{EncodeInteger(1)});
  EXPECT_TRUE(query->start->before);
  EXPECT_EQ(query->end->values,
            (std::vector<std::string>{EncodeString("x"), EncodeReference(name)}));
  EXPECT_FALSE(query->end->before);
  EXPECT_TRUE(Read("start_at {}")->start->values.empty());
}

TEST(ReadQueryTest, ReadsLimits) {
  EXPECT_EQ(Read("limit { value: 0 }")->limit, 0);
  EXPECT_EQ(Read("limit { value: 2147483647 } offset: 3")->limit, 2'147'483'647);
  EXPECT_EQ(Read("offset: 3")->offset, 3);
}

TEST(ReadQueryTest, ReadsProjections) {
  EXPECT_EQ(Read("select {}")->select, std::vector<model::FieldPath>());
  EXPECT_EQ(Read("select { fields { field_path: 'a.b' } fields { field_path: '`x y`' } }")->select,
            (std::vector<model::FieldPath>{FieldAt("a.b"), FieldAt("`x y`")}));
}

std::string VectorText(const std::string& components) {
  return "query_vector { map_value { fields { key: '__type__' value { string_value: '__vector__' } "
         "} fields { key: 'value' value { array_value { " +
         components + " } } } } } ";
}

Result<Query> ReadNearest(const std::string& text) { return Read("find_nearest { " + text + " }"); }

const std::string& TwoDimensions() {
  static const std::string text =
      VectorText("values { double_value: 1.5 } values { double_value: -2 }");
  return text;
}

TEST(ReadNearestTest, ReadsEverything) {
  const std::vector<std::pair<std::string, query::DistanceMeasure>> measures = {
      {"EUCLIDEAN", query::DistanceMeasure::kEuclidean},
      {"COSINE", query::DistanceMeasure::kCosine},
      {"DOT_PRODUCT", query::DistanceMeasure::kDotProduct},
  };
  for (const auto& [name, measure] : measures) {
    const Result<Query> query = ReadNearest(
        TwoDimensions() + "vector_field { field_path: 'a.b' } distance_measure: " + name +
        " limit { value: 10 } distance_result_field: 'distance' "
        "distance_threshold { value: 0.5 }");
    ASSERT_EQ(query.status(), Status());
    const query::FindNearest& nearest = *query->nearest;
    EXPECT_EQ(nearest.vector_field, FieldAt("a.b"));
    EXPECT_EQ(nearest.query_vector, (std::vector<double>{1.5, -2}));
    EXPECT_EQ(nearest.measure, measure);
    EXPECT_EQ(nearest.limit, 10);
    EXPECT_EQ(nearest.distance_result_field, FieldAt("distance"));
    EXPECT_EQ(nearest.distance_threshold, 0.5);
  }
}

TEST(ReadNearestTest, OptionalPartsMayBeMissing) {
  const std::string required =
      TwoDimensions() + "vector_field { field_path: 'a' } distance_measure: COSINE ";
  const Result<Query> query = ReadNearest(required + "limit { value: 1 }");
  ASSERT_EQ(query.status(), Status());
  EXPECT_FALSE(query->nearest->distance_result_field || query->nearest->distance_threshold);
  // A missing or negative limit becomes 0, which is rejected elsewhere.
  EXPECT_EQ(ReadNearest(required)->nearest->limit, 0);
  EXPECT_EQ(ReadNearest(required + "limit { value: -1 }")->nearest->limit, 0);
}

Result<QueryRequest> ReadRequest(const std::string& text) {
  auto message = FromText<proto::RunQueryRequest>(text);
  if (message.parent().empty()) message.set_parent(kRoot);
  return ReadRunQuery(message);
}

TEST(ReadRunQueryTest, ReadsParentAndQuery) {
  const Result<QueryRequest> request = ReadRequest(
      "parent: 'projects/p1/databases/(default)/documents/c/a' structured_query { from { "
      "collection_id: 's' } }");
  ASSERT_EQ(request.status(), Status());
  EXPECT_EQ(request->query.parent.document_path, "c/a");
  EXPECT_EQ(request->query.collection_id, "s");
  EXPECT_TRUE(std::holds_alternative<request::Now>(request->consistency));
  EXPECT_EQ(request->explain, Explain::kNothing);
}

TEST(ReadRunQueryTest, ReadsConsistency) {
  const std::string query = "structured_query {} ";
  EXPECT_EQ(
      std::get<request::InTransaction>(ReadRequest(query + "transaction: 't1'")->consistency).id,
      "t1");
  EXPECT_EQ(std::get<model::Timestamp>(
                ReadRequest(query + "read_time { seconds: 2 nanos: 3000 }")->consistency),
            model::Timestamp::FromMicros(2'000'003));
  EXPECT_EQ(ReadRequest(query + "read_time { nanos: 3 }").status(),
            InvalidArgument("timestamp cannot have more than microseconds precision"));
  using Mode = request::TransactionOptions::Mode;
  const auto mode = [&](const std::string& options) {
    return std::get<request::NewTransaction>(
               ReadRequest(query + "new_transaction { " + options + " }")->consistency)
        .options.mode;
  };
  EXPECT_EQ(mode(""), Mode::kReadOnly);
  EXPECT_EQ(mode("read_only {}"), Mode::kReadOnly);
  EXPECT_EQ(mode("read_write {}"), Mode::kReadWrite);
}

TEST(ReadRunQueryTest, ReadsExplainOptions) {
  const std::string query = "structured_query {} ";
  EXPECT_EQ(ReadRequest(query + "explain_options {}")->explain, Explain::kPlan);
  EXPECT_EQ(ReadRequest(query + "explain_options { analyze: false }")->explain, Explain::kPlan);
  EXPECT_EQ(ReadRequest(query + "explain_options { analyze: true }")->explain, Explain::kAnalyze);
}

Result<AggregationRequest> ReadAggregationRequest(const std::string& text) {
  auto message = FromText<proto::RunAggregationQueryRequest>(text);
  if (message.parent().empty()) message.set_parent(kRoot);
  return ReadRunAggregationQuery(message);
}

Result<AggregationRequest> ReadAggregations(const std::string& text) {
  return ReadAggregationRequest("structured_aggregation_query { " + text + " }");
}

TEST(ReadRunAggregationQueryTest, ReadsEverything) {
  const Result<AggregationRequest> request = ReadAggregationRequest(
      "structured_aggregation_query { structured_query { from { collection_id: 'c' } } "
      "aggregations { alias: 'n' count { up_to { value: 5 } } } "
      "aggregations { alias: 's' sum { field { field_path: 'a.b' } } } "
      "aggregations { alias: 'v' avg { field { field_path: 'c' } } } "
      "aggregations { alias: 'all' count {} } } "
      "transaction: 't1' explain_options { analyze: true }");
  ASSERT_EQ(request.status(), Status());
  EXPECT_EQ(request->base.query.collection_id, "c");
  EXPECT_EQ(std::get<request::InTransaction>(request->base.consistency).id, "t1");
  EXPECT_EQ(request->base.explain, Explain::kAnalyze);
  const std::vector<Aggregation>& aggregations = request->aggregations;
  ASSERT_EQ(aggregations.size(), 4);
  EXPECT_EQ(aggregations[0].kind, Aggregation::Kind::kCount);
  EXPECT_EQ(aggregations[0].alias, "n");
  EXPECT_EQ(aggregations[0].up_to, 5);
  EXPECT_EQ(aggregations[0].path, std::nullopt);
  EXPECT_EQ(aggregations[1].kind, Aggregation::Kind::kSum);
  EXPECT_EQ(aggregations[1].alias, "s");
  EXPECT_EQ(aggregations[1].path, FieldAt("a.b"));
  EXPECT_EQ(aggregations[2].kind, Aggregation::Kind::kAverage);
  EXPECT_EQ(aggregations[2].path, FieldAt("c"));
  EXPECT_EQ(aggregations[3].up_to, std::nullopt);
}

TEST(ReadRunAggregationQueryTest, AliasesHaveDefaults) {
  const Result<AggregationRequest> request = ReadAggregations(
      "aggregations { count {} alias: 'a b' } aggregations { count {} } aggregations { count {} "
      "alias: 'x' } aggregations { count {} }");
  ASSERT_EQ(request.status(), Status());
  EXPECT_EQ(request->aggregations[0].alias, "a b");
  EXPECT_EQ(request->aggregations[1].alias, "field_1");
  EXPECT_EQ(request->aggregations[2].alias, "x");
  EXPECT_EQ(request->aggregations[3].alias, "field_2");
}

constexpr char kGroup[] =
    "from { collection_id: 'c' all_descendants: true } order_by { field { field_path: '__name__' } "
    "direction: ASCENDING } ";

proto::PartitionQueryRequest Partition(const std::string& query, int64_t partition_count) {
  proto::PartitionQueryRequest request;
  request.set_parent(kRoot);
  *request.mutable_structured_query() = FromText<proto::StructuredQuery>(query);
  request.set_partition_count(partition_count);
  return request;
}

Status PartitionVerdict(const proto::PartitionQueryRequest& request) {
  return ReadPartitionQuery(request).status();
}

TEST(ReadPartitionQueryTest, ReadsEverything) {
  auto message = Partition(kGroup, 7);
  message.set_page_size(3);
  message.mutable_read_time()->set_seconds(2);
  const Result<PartitionRequest> request = ReadPartitionQuery(message);
  ASSERT_EQ(request.status(), Status());
  EXPECT_EQ(request->query.collection_id, "c");
  EXPECT_EQ(request->points_max, 7);
  EXPECT_EQ(request->page_size, 3);
  EXPECT_EQ(std::get<model::Timestamp>(request->consistency),
            model::Timestamp::FromMicros(2'000'000));
  EXPECT_EQ(request->progress.points, 0);
  EXPECT_TRUE(
      std::holds_alternative<request::Now>(ReadPartitionQuery(Partition(kGroup, 1))->consistency));
}

TEST(ReadPartitionQueryTest, BoundsPointsAndPages) {
  EXPECT_EQ(ReadPartitionQuery(Partition(kGroup, 1))->page_size, kPartitionPageSizeMax);
  const auto many = static_cast<int64_t>(kPartitionPointsMax);
  EXPECT_EQ(ReadPartitionQuery(Partition(kGroup, many))->points_max, kPartitionPointsMax);
  EXPECT_EQ(ReadPartitionQuery(Partition(kGroup, many + 1))->points_max, kPartitionPointsMax);
  auto message = Partition(kGroup, 1);
  message.set_page_size(static_cast<int32_t>(kPartitionPageSizeMax) + 1);
  EXPECT_EQ(ReadPartitionQuery(message)->page_size, kPartitionPageSizeMax);
  for (const int64_t count : {0, -1}) {
    EXPECT_EQ(PartitionVerdict(Partition(kGroup, count)),
              InvalidArgument("partition_count must be positive."));
  }
  message.set_page_size(-1);
  EXPECT_EQ(PartitionVerdict(message),
            InvalidArgument("page_size must be greater than or equal to zero."));
}

TEST(ReadPartitionQueryTest, ATokenBelongsToItsRequest) {
  auto message = Partition(kGroup, 7);
  const std::string identity = ReadPartitionQuery(message)->identity;
  const std::string name = std::string(kRoot) + "/c/a";
  message.set_page_token(request::EncodePageToken(identity, {"3", name}));
  message.set_page_size(2);  // May change from page to page.
  const Result<PartitionRequest> request = ReadPartitionQuery(message);
  ASSERT_EQ(request.status(), Status());
  EXPECT_EQ(request->identity, identity);
  EXPECT_EQ(request->progress.points, 3);
  EXPECT_EQ(request->progress.last, EncodeReference(name));
  message.set_partition_count(8);
  EXPECT_EQ(PartitionVerdict(message), InvalidArgument("invalid page token"));
}

}  // namespace
}  // namespace hearth::wire
