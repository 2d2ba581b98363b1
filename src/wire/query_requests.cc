#include "wire/query_requests.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "model/limits.h"
#include "model/reserved_name.h"
#include "model/value.h"

namespace hearth::wire {
namespace {

using model::FieldPath;
using model::ParentName;
using model::ValueType;
using model::ValueView;
using query::Aggregation;
using query::Bound;
using query::CompositeFilter;
using query::FieldFilter;
using query::Filter;
using query::FindNearest;
using query::Operator;
using query::Order;
using query::Query;
using query::SortDirection;
using Structured = proto::StructuredQuery;

Result<FieldPath> ReadPath(const Structured::FieldReference& field) {
  return FieldPath::Parse(field.field_path());
}

std::optional<Operator> ReadOperator(Structured::FieldFilter::Operator op) {
  switch (op) {
    case Structured::FieldFilter::LESS_THAN:
      return Operator::kLess;
    case Structured::FieldFilter::LESS_THAN_OR_EQUAL:
      return Operator::kLessOrEqual;
    case Structured::FieldFilter::GREATER_THAN:
      return Operator::kGreater;
    case Structured::FieldFilter::GREATER_THAN_OR_EQUAL:
      return Operator::kGreaterOrEqual;
    case Structured::FieldFilter::EQUAL:
      return Operator::kEqual;
    case Structured::FieldFilter::NOT_EQUAL:
      return Operator::kNotEqual;
    case Structured::FieldFilter::ARRAY_CONTAINS:
      return Operator::kArrayContains;
    case Structured::FieldFilter::IN:
      return Operator::kIn;
    case Structured::FieldFilter::ARRAY_CONTAINS_ANY:
      return Operator::kArrayContainsAny;
    case Structured::FieldFilter::NOT_IN:
      return Operator::kNotIn;
    default:
      return std::nullopt;
  }
}

std::optional<Operator> ReadOperator(Structured::UnaryFilter::Operator op) {
  switch (op) {
    case Structured::UnaryFilter::IS_NAN:
      return Operator::kIsNan;
    case Structured::UnaryFilter::IS_NULL:
      return Operator::kIsNull;
    case Structured::UnaryFilter::IS_NOT_NAN:
      return Operator::kIsNotNan;
    case Structured::UnaryFilter::IS_NOT_NULL:
      return Operator::kIsNotNull;
    default:
      return std::nullopt;
  }
}

bool HasChoices(std::optional<Operator> op) {
  return op == Operator::kIn || op == Operator::kNotIn || op == Operator::kArrayContainsAny;
}

// The values to choose from, as one array. They are validated one by one, because they may include
// arrays and vectors, which a stored array cannot contain.
Result<std::string> ReadChoices(const proto::ArrayValue& array) {
  std::vector<std::string> choices;
  choices.reserve(static_cast<size_t>(array.values_size()));
  for (const proto::Value& choice : array.values()) {
    ASSIGN_OR_RETURN(std::string encoded, ReadValue(choice));
    choices.push_back(std::move(encoded));
  }
  return model::EncodeArray(choices);
}

Result<Filter> ReadFieldFilter(const Structured::FieldFilter& filter) {
  ASSIGN_OR_RETURN(FieldPath path, ReadPath(filter.field()));
  const std::optional<Operator> op = ReadOperator(filter.op());
  ASSIGN_OR_RETURN(std::string value, HasChoices(op) && filter.value().has_array_value()
                                          ? ReadChoices(filter.value().array_value())
                                          : ReadValue(filter.value()));
  if (!op) return InvalidArgument("Unknown FieldFilter operator.");
  return Filter{FieldFilter{std::move(path), *op, std::move(value)}};
}

Result<Filter> ReadUnaryFilter(const Structured::UnaryFilter& filter) {
  if (!filter.has_field()) {
    return InvalidArgument("Unsupported UnaryFilter operand type (non-FIELD).");
  }
  ASSIGN_OR_RETURN(FieldPath path, ReadPath(filter.field()));
  const std::optional<Operator> op = ReadOperator(filter.op());
  if (!op) return InvalidArgument("Unknown UnaryFilter operator.");
  return Filter{FieldFilter{std::move(path), *op, ""}};
}

Result<Filter> ReadFilter(const Structured::Filter& filter);

Result<Filter> ReadCompositeFilter(const Structured::CompositeFilter& composite) {
  const bool is_or = composite.op() == Structured::CompositeFilter::OR;
  if (!is_or && composite.op() != Structured::CompositeFilter::AND) {
    return InvalidArgument("Unsupported CompositeFilter operator.");
  }
  CompositeFilter result{is_or ? CompositeFilter::Operator::kOr : CompositeFilter::Operator::kAnd,
                         {}};
  result.filters.reserve(static_cast<size_t>(composite.filters_size()));
  for (const Structured::Filter& filter : composite.filters()) {
    ASSIGN_OR_RETURN(Filter read, ReadFilter(filter));
    result.filters.push_back(std::move(read));
  }
  return Filter{std::move(result)};
}

// ParseMessage bounds the depth of the recursion.
Result<Filter> ReadFilter(const Structured::Filter& filter) {
  switch (filter.filter_type_case()) {
    case Structured::Filter::kCompositeFilter:
      return ReadCompositeFilter(filter.composite_filter());
    case Structured::Filter::kFieldFilter:
      return ReadFieldFilter(filter.field_filter());
    case Structured::Filter::kUnaryFilter:
      return ReadUnaryFilter(filter.unary_filter());
    case Structured::Filter::FILTER_TYPE_NOT_SET:
      break;
  }
  return InvalidArgument("Unknown Filter type.");
}

Result<Order> ReadOrder(const Structured::Order& order) {
  ASSIGN_OR_RETURN(FieldPath path, ReadPath(order.field()));
  switch (order.direction()) {
    case proto::StructuredQuery::DIRECTION_UNSPECIFIED:
    case proto::StructuredQuery::ASCENDING:
      return Order{std::move(path), SortDirection::kAscending};
    case proto::StructuredQuery::DESCENDING:
      return Order{std::move(path), SortDirection::kDescending};
    default:
      return InvalidArgument("Unrecognized ordering.");
  }
}

Result<Bound> ReadBound(const proto::Cursor& cursor) {
  Bound bound{{}, cursor.before()};
  bound.values.reserve(static_cast<size_t>(cursor.values_size()));
  for (const proto::Value& value : cursor.values()) {
    ASSIGN_OR_RETURN(std::string encoded, ReadValue(value));
    bound.values.push_back(std::move(encoded));
  }
  return bound;
}

Result<query::DistanceMeasure> ReadMeasure(Structured::FindNearest::DistanceMeasure measure) {
  switch (measure) {
    case Structured::FindNearest::EUCLIDEAN:
      return query::DistanceMeasure::kEuclidean;
    case Structured::FindNearest::COSINE:
      return query::DistanceMeasure::kCosine;
    case Structured::FindNearest::DOT_PRODUCT:
      return query::DistanceMeasure::kDotProduct;
    default:
      return InvalidArgument("Unknown Distance Measure.");
  }
}

Result<std::vector<double>> ReadVector(const proto::Value& value) {
  ASSIGN_OR_RETURN(const std::string encoded, ReadValue(value));
  const ValueView view(encoded);
  if (view.type() != ValueType::kVector) {
    return InvalidArgument("Query Value must be of type vector.");
  }
  std::vector<double> components;
  for (model::ArrayView rest = view.vector(); const auto component = rest.Next();) {
    components.push_back(component->number());
  }
  return components;
}

// Not a path but the name of a top-level field of the result, with any characters.
Result<FieldPath> ReadDistanceField(const std::string& name) {
  const std::string subject = "The distanceResultField.property.name ";
  if (name.size() > model::kFieldNameBytesMax) {
    return InvalidArgument(subject + "is longer than 1500 bytes.");
  }
  if (model::IsReservedName(name)) {
    return InvalidArgument(subject + '"' + name + "\" is reserved.");
  }
  std::string quoted = "`";
  for (const char c : name) {
    if (c == '`' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return FieldPath::Parse(quoted + '`');
}

Result<FindNearest> ReadNearest(const Structured::FindNearest& nearest) {
  ASSIGN_OR_RETURN(std::vector<double> query_vector, ReadVector(nearest.query_vector()));
  // Values below 1 are as invalid as a missing limit.
  const int32_t limit = std::max(nearest.limit().value(), 0);
  ASSIGN_OR_RETURN(const query::DistanceMeasure measure, ReadMeasure(nearest.distance_measure()));
  ASSIGN_OR_RETURN(FieldPath vector_field, ReadPath(nearest.vector_field()));
  FindNearest result{std::move(vector_field),
                     std::move(query_vector),
                     measure,
                     static_cast<size_t>(limit),
                     {},
                     {}};
  if (!nearest.distance_result_field().empty()) {
    ASSIGN_OR_RETURN(result.distance_result_field,
                     ReadDistanceField(nearest.distance_result_field()));
  }
  if (nearest.has_distance_threshold()) {
    result.distance_threshold = nearest.distance_threshold().value();
  }
  return result;
}

Status ReadFrom(const Structured& message, Query* query) {
  if (message.from_size() == 0) return Status();
  if (message.from_size() > 1) {
    return InvalidArgument("StructuredQuery.from cannot have more than one collection selector.");
  }
  query->collection_id = message.from(0).collection_id();
  query->all_descendants = message.from(0).all_descendants();
  return Status();
}

Status ReadLimits(const Structured& message, Query* query) {
  if (message.offset() < 0) return InvalidArgument("offset is negative");
  query->offset = static_cast<size_t>(message.offset());
  if (!message.has_limit()) return Status();
  if (message.limit().value() < 0) return InvalidArgument("limit is negative");
  query->limit = static_cast<size_t>(message.limit().value());
  return Status();
}

// An empty projection leaves only the documents' names.
Result<std::vector<FieldPath>> ReadSelect(const Structured::Projection& select) {
  std::vector<FieldPath> paths;
  paths.reserve(static_cast<size_t>(select.fields_size()));
  for (const Structured::FieldReference& field : select.fields()) {
    ASSIGN_OR_RETURN(FieldPath path, ReadPath(field));
    paths.push_back(std::move(path));
  }
  return paths;
}

template <typename Request>
Explain ReadExplain(const Request& request) {
  if (!request.has_explain_options()) return Explain::kNothing;
  return request.explain_options().analyze() ? Explain::kAnalyze : Explain::kPlan;
}

using AggregationMessage = proto::StructuredAggregationQuery::Aggregation;

// Without the alias.
Result<Aggregation> ReadAggregation(const AggregationMessage& message) {
  Aggregation result{Aggregation::Kind::kCount, "", {}, {}};
  switch (message.operator_case()) {
    case AggregationMessage::kCount:
      if (!message.count().has_up_to()) return result;
      // Normalize rejects 0, and with it all negative values.
      result.up_to = static_cast<size_t>(std::max<int64_t>(message.count().up_to().value(), 0));
      return result;
    case AggregationMessage::kSum: {
      result.kind = Aggregation::Kind::kSum;
      ASSIGN_OR_RETURN(result.path, ReadPath(message.sum().field()));
      return result;
    }
    case AggregationMessage::kAvg: {
      result.kind = Aggregation::Kind::kAverage;
      ASSIGN_OR_RETURN(result.path, ReadPath(message.avg().field()));
      return result;
    }
    case AggregationMessage::OPERATOR_NOT_SET:
      break;
  }
  return InvalidArgument("Operator field in Aggregation is not set.");
}

Result<std::vector<Aggregation>> ReadAggregations(
    const google::protobuf::RepeatedPtrField<AggregationMessage>& messages) {
  std::vector<Aggregation> aggregations;
  size_t unnamed = 0;
  for (const AggregationMessage& message : messages) {
    ASSIGN_OR_RETURN(Aggregation read, ReadAggregation(message));
    read.alias = message.alias().empty() ? "field_" + std::to_string(++unnamed) : message.alias();
    aggregations.push_back(std::move(read));
  }
  return aggregations;
}

Status CheckCanBePartitioned(const Query& query) {
  if (!query.parent.document_path.empty()) {
    return InvalidArgument(
        "Document resource names are not supported; only database resource names can be "
        "specified.");
  }
  const bool is_by_name = query.orders.size() == 1 && query.orders[0].path.IsName() &&
                          query.orders[0].direction == SortDirection::kAscending;
  if (query.collection_id.empty() || !query.all_descendants || !is_by_name) {
    return InvalidArgument(
        "Query must specify collection with all descendants and be ordered by name ascending.");
  }
  if (query.where || query.offset != 0 || query.limit || query.start || query.end ||
      query.nearest) {
    return InvalidArgument(
        "Filters, limits, offsets, start/end cursors and nearest neighbors are not supported in "
        "partition queries.");
  }
  return Status();
}

// Pages of one set of points may differ in size.
std::string IdentityOf(proto::PartitionQueryRequest request) {
  request.clear_page_token();
  request.clear_page_size();
  return request.SerializeAsString();
}

}  // namespace

Result<Query> ReadQuery(const ParentName& parent, const Structured& message) {
  Query query{parent, "", false, {}, {}, {}, {}, 0, {}, {}, {}};
  RETURN_IF_ERROR(ReadFrom(message, &query));
  if (message.has_where()) {
    ASSIGN_OR_RETURN(query.where, ReadFilter(message.where()));
  }
  if (message.has_select()) {
    ASSIGN_OR_RETURN(query.select, ReadSelect(message.select()));
  }
  query.orders.reserve(static_cast<size_t>(message.order_by_size()));
  for (const Structured::Order& order : message.order_by()) {
    ASSIGN_OR_RETURN(Order read, ReadOrder(order));
    query.orders.push_back(std::move(read));
  }
  if (message.has_start_at()) {
    ASSIGN_OR_RETURN(query.start, ReadBound(message.start_at()));
  }
  if (message.has_end_at()) {
    ASSIGN_OR_RETURN(query.end, ReadBound(message.end_at()));
  }
  if (message.has_find_nearest()) {
    ASSIGN_OR_RETURN(query.nearest, ReadNearest(message.find_nearest()));
  }
  RETURN_IF_ERROR(ReadLimits(message, &query));
  return query;
}

Result<QueryRequest> ReadRunQuery(const proto::RunQueryRequest& request) {
  ASSIGN_OR_RETURN(const ParentName parent, ParentName::Parse(request.parent()));
  if (!request.has_structured_query()) {
    return InvalidArgument("only structured queries are supported");
  }
  ASSIGN_OR_RETURN(Query query, ReadQuery(parent, request.structured_query()));
  ASSIGN_OR_RETURN(request::Consistency consistency, ReadConsistencyOrBegin(request));
  return QueryRequest{std::move(query), std::move(consistency), ReadExplain(request)};
}

Result<AggregationRequest> ReadRunAggregationQuery(
    const proto::RunAggregationQueryRequest& request) {
  ASSIGN_OR_RETURN(const ParentName parent, ParentName::Parse(request.parent()));
  if (!request.has_structured_aggregation_query()) {
    return InvalidArgument("Only structured aggregation queries are supported.");
  }
  const proto::StructuredAggregationQuery& message = request.structured_aggregation_query();
  ASSIGN_OR_RETURN(Query query, ReadQuery(parent, message.structured_query()));
  ASSIGN_OR_RETURN(std::vector<Aggregation> aggregations, ReadAggregations(message.aggregations()));
  ASSIGN_OR_RETURN(request::Consistency consistency, ReadConsistencyOrBegin(request));
  return AggregationRequest{{std::move(query), std::move(consistency), ReadExplain(request)},
                            std::move(aggregations)};
}

Result<PartitionRequest> ReadPartitionQuery(const proto::PartitionQueryRequest& request) {
  ASSIGN_OR_RETURN(const ParentName parent, ParentName::Parse(request.parent()));
  if (!request.has_structured_query()) {
    return InvalidArgument("only structured queries are supported");
  }
  if (request.partition_count() <= 0) return InvalidArgument("partition_count must be positive.");
  if (request.page_size() < 0) {
    return InvalidArgument("page_size must be greater than or equal to zero.");
  }
  ASSIGN_OR_RETURN(Query query, ReadQuery(parent, request.structured_query()));
  RETURN_IF_ERROR(CheckCanBePartitioned(query));
  request::Consistency consistency = request::Now{};
  if (request.has_read_time()) {
    ASSIGN_OR_RETURN(consistency, ReadTime(request.read_time()));
  }
  std::string identity = IdentityOf(request);
  ASSIGN_OR_RETURN(PartitionProgress progress, ReadPartitionToken(request.page_token(), identity));
  const size_t points = static_cast<size_t>(request.partition_count());
  const size_t page_size =
      request.page_size() == 0 ? kPartitionPageSizeMax : static_cast<size_t>(request.page_size());
  return PartitionRequest{std::move(query),
                          std::move(consistency),
                          std::min(points, kPartitionPointsMax),
                          std::min(page_size, kPartitionPageSizeMax),
                          std::move(progress),
                          std::move(identity)};
}

}  // namespace hearth::wire
