#include "client/remote/query_proto.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <variant>

#include "base/status_macros.h"
#include "model/wire_format.h"
#include "wire/requests.h"

namespace hearth::client {
namespace {

using model::FieldTransform;
using model::TransformKind;
using model::WireTag;
using model::WireType;
using query::Aggregation;
using query::Bound;
using query::CompositeFilter;
using query::FieldFilter;
using query::Operator;
using request::WriteKind;
using Structured = proto::StructuredQuery;
using Unary = Structured::UnaryFilter;
using Field = Structured::FieldFilter;

// Field numbers of the messages that are written by hand.
constexpr uint32_t kWriteUpdate = 1;
constexpr uint32_t kDocumentName = 1;

// Fails only for text that is not UTF-8: stored values are well-formed messages.
Status FillValue(std::string_view encoded, proto::Value* value) {
  return wire::ParseMessage(encoded, value);
}

Unary::Operator UnaryOperator(Operator op) {
  switch (op) {
    case Operator::kIsNull:
      return Unary::IS_NULL;
    case Operator::kIsNan:
      return Unary::IS_NAN;
    case Operator::kIsNotNull:
      return Unary::IS_NOT_NULL;
    case Operator::kIsNotNan:
      return Unary::IS_NOT_NAN;
    default:
      return Unary::OPERATOR_UNSPECIFIED;
  }
}

Field::Operator FieldOperator(Operator op) {
  switch (op) {
    case Operator::kLess:
      return Field::LESS_THAN;
    case Operator::kLessOrEqual:
      return Field::LESS_THAN_OR_EQUAL;
    case Operator::kEqual:
      return Field::EQUAL;
    case Operator::kNotEqual:
      return Field::NOT_EQUAL;
    case Operator::kGreaterOrEqual:
      return Field::GREATER_THAN_OR_EQUAL;
    case Operator::kGreater:
      return Field::GREATER_THAN;
    case Operator::kArrayContains:
      return Field::ARRAY_CONTAINS;
    case Operator::kArrayContainsAny:
      return Field::ARRAY_CONTAINS_ANY;
    case Operator::kIn:
      return Field::IN;
    case Operator::kNotIn:
      return Field::NOT_IN;
    default:
      return Field::OPERATOR_UNSPECIFIED;
  }
}

Status FillFieldFilter(const FieldFilter& filter, Structured::Filter* message) {
  if (const Unary::Operator op = UnaryOperator(filter.op); op != Unary::OPERATOR_UNSPECIFIED) {
    message->mutable_unary_filter()->set_op(op);
    message->mutable_unary_filter()->mutable_field()->set_field_path(filter.path.ToString());
    return Status();
  }
  Field& field = *message->mutable_field_filter();
  field.set_op(FieldOperator(filter.op));
  field.mutable_field()->set_field_path(filter.path.ToString());
  return FillValue(filter.value, field.mutable_value());
}

Status FillFilter(const query::Filter& filter, Structured::Filter* message) {
  if (const auto* field = std::get_if<FieldFilter>(&filter.filter)) {
    return FillFieldFilter(*field, message);
  }
  const auto& composite = std::get<CompositeFilter>(filter.filter);
  Structured::CompositeFilter& joined = *message->mutable_composite_filter();
  joined.set_op(composite.op == CompositeFilter::Operator::kOr ? Structured::CompositeFilter::OR
                                                               : Structured::CompositeFilter::AND);
  for (const query::Filter& part : composite.filters) {
    RETURN_IF_ERROR(FillFilter(part, joined.add_filters()));
  }
  return Status();
}

Status FillBound(const Bound& bound, proto::Cursor* cursor) {
  cursor->set_before(bound.before);
  for (const std::string& value : bound.values) {
    RETURN_IF_ERROR(FillValue(value, cursor->add_values()));
  }
  return Status();
}

Structured::FindNearest::DistanceMeasure MeasureOf(query::DistanceMeasure measure) {
  switch (measure) {
    case query::DistanceMeasure::kEuclidean:
      return Structured::FindNearest::EUCLIDEAN;
    case query::DistanceMeasure::kCosine:
      return Structured::FindNearest::COSINE;
    case query::DistanceMeasure::kDotProduct:
      return Structured::FindNearest::DOT_PRODUCT;
  }
  return Structured::FindNearest::DISTANCE_MEASURE_UNSPECIFIED;
}

Result<int32_t> ToInt32(size_t number, std::string_view what) {
  if (number <= std::numeric_limits<int32_t>::max()) return static_cast<int32_t>(number);
  return InvalidArgument(std::string(what) + " is too large: " + std::to_string(number));
}

void FillVector(const std::vector<double>& components, proto::Value* value) {
  auto& fields = *value->mutable_map_value()->mutable_fields();
  fields["__type__"].set_string_value("__vector__");
  proto::ArrayValue& array = *fields["value"].mutable_array_value();
  for (const double component : components) array.add_values()->set_double_value(component);
}

Status FillNearest(const query::FindNearest& nearest, Structured::FindNearest* message) {
  message->mutable_vector_field()->set_field_path(nearest.vector_field.ToString());
  FillVector(nearest.query_vector, message->mutable_query_vector());
  message->set_distance_measure(MeasureOf(nearest.measure));
  ASSIGN_OR_RETURN(const int32_t limit, ToInt32(nearest.limit, "the limit of FindNearest"));
  message->mutable_limit()->set_value(limit);
  if (nearest.distance_result_field) {
    // The protocol takes the plain name of a top-level field here, not a path.
    const std::vector<std::string>& segments = nearest.distance_result_field->segments();
    if (segments.size() != 1) {
      return InvalidArgument("the field for the distance must not be nested");
    }
    message->set_distance_result_field(segments[0]);
  }
  if (nearest.distance_threshold) {
    message->mutable_distance_threshold()->set_value(*nearest.distance_threshold);
  }
  return Status();
}

Status FillTransform(const FieldTransform& transform,
                     proto::DocumentTransform::FieldTransform* message) {
  message->set_field_path(transform.path.ToString());
  if (transform.kind == TransformKind::kServerTime) {
    message->set_set_to_server_value(proto::DocumentTransform::FieldTransform::REQUEST_TIME);
    return Status();
  }
  proto::Value operand;
  RETURN_IF_ERROR(FillValue(transform.operand, &operand));
  switch (transform.kind) {
    case TransformKind::kServerTime:
      break;
    case TransformKind::kIncrement:
      *message->mutable_increment() = std::move(operand);
      break;
    case TransformKind::kMaximum:
      *message->mutable_maximum() = std::move(operand);
      break;
    case TransformKind::kMinimum:
      *message->mutable_minimum() = std::move(operand);
      break;
    case TransformKind::kArrayUnion:
      *message->mutable_append_missing_elements() = std::move(*operand.mutable_array_value());
      break;
    case TransformKind::kArrayRemove:
      *message->mutable_remove_all_from_array() = std::move(*operand.mutable_array_value());
      break;
  }
  return Status();
}

}  // namespace

void FillTime(model::Timestamp time, google::protobuf::Timestamp* message) {
  message->set_seconds(time.seconds());
  message->set_nanos(time.nanos());
}

Result<proto::StructuredQuery> MakeStructuredQuery(const query::Query& query) {
  Structured message;
  Structured::CollectionSelector& from = *message.add_from();
  from.set_collection_id(query.collection_id);
  from.set_all_descendants(query.all_descendants);
  if (query.where) RETURN_IF_ERROR(FillFilter(*query.where, message.mutable_where()));
  for (const query::Order& order : query.orders) {
    Structured::Order& added = *message.add_order_by();
    added.mutable_field()->set_field_path(order.path.ToString());
    added.set_direction(order.direction == query::SortDirection::kDescending
                            ? Structured::DESCENDING
                            : Structured::ASCENDING);
  }
  if (query.start) RETURN_IF_ERROR(FillBound(*query.start, message.mutable_start_at()));
  if (query.end) RETURN_IF_ERROR(FillBound(*query.end, message.mutable_end_at()));
  ASSIGN_OR_RETURN(const int32_t offset, ToInt32(query.offset, "the offset"));
  message.set_offset(offset);
  if (query.limit) {
    ASSIGN_OR_RETURN(const int32_t limit, ToInt32(*query.limit, "the limit"));
    message.mutable_limit()->set_value(limit);
  }
  if (query.select) {
    Structured::Projection& select = *message.mutable_select();
    for (const model::FieldPath& path : *query.select) {
      select.add_fields()->set_field_path(path.ToString());
    }
  }
  if (query.nearest) {
    RETURN_IF_ERROR(FillNearest(*query.nearest, message.mutable_find_nearest()));
  }
  return message;
}

Result<proto::StructuredAggregationQuery> MakeAggregationQuery(
    const query::Query& query, const std::vector<Aggregation>& aggregations) {
  proto::StructuredAggregationQuery message;
  ASSIGN_OR_RETURN(*message.mutable_structured_query(), MakeStructuredQuery(query));
  for (const Aggregation& aggregation : aggregations) {
    auto& added = *message.add_aggregations();
    added.set_alias(aggregation.alias);
    const std::string path = aggregation.path ? aggregation.path->ToString() : "";
    switch (aggregation.kind) {
      case Aggregation::Kind::kCount:
        added.mutable_count();
        if (aggregation.up_to) {
          ASSIGN_OR_RETURN(const int32_t up_to, ToInt32(*aggregation.up_to, "up_to"));
          added.mutable_count()->mutable_up_to()->set_value(up_to);
        }
        break;
      case Aggregation::Kind::kSum:
        added.mutable_sum()->mutable_field()->set_field_path(path);
        break;
      case Aggregation::Kind::kAverage:
        added.mutable_avg()->mutable_field()->set_field_path(path);
        break;
    }
  }
  return message;
}

std::string ParentText(const model::ParentName& parent) {
  std::string text = parent.database.text() + "/documents";
  if (!parent.document_path.empty()) text += "/" + parent.document_path;
  return text;
}

Result<std::string> EncodeWrite(const model::DatabaseName& database, const request::Write& write) {
  const std::string name = database.text() + "/documents/" + write.path.path();
  proto::Write message;
  if (write.kind == WriteKind::kDelete) message.set_delete_(name);
  if (write.kind == WriteKind::kVerify) message.set_verify(name);
  if (write.mask) {
    proto::DocumentMask& mask = *message.mutable_update_mask();
    for (const model::FieldPath& path : *write.mask) mask.add_field_paths(path.ToString());
  }
  for (const FieldTransform& transform : write.transforms) {
    RETURN_IF_ERROR(FillTransform(transform, message.add_update_transforms()));
  }
  if (write.precondition.exists) {
    message.mutable_current_document()->set_exists(*write.precondition.exists);
  }
  if (write.precondition.update_time) {
    FillTime(*write.precondition.update_time,
             message.mutable_current_document()->mutable_update_time());
  }
  std::string bytes = message.SerializeAsString();
  if (write.kind == WriteKind::kUpdate) {
    std::string document;
    model::AppendBytes(WireTag(kDocumentName, WireType::kBytes), name, &document);
    document += write.fields.encoded();
    model::AppendBytes(WireTag(kWriteUpdate, WireType::kBytes), document, &bytes);
  }
  return bytes;
}

}  // namespace hearth::client
