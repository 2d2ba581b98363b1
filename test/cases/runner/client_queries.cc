#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "cases/runner/client_convert.h"

namespace hearth::cases {
namespace {

using Query = proto::StructuredQuery;

Result<client::Op> OpToClient(Query::FieldFilter::Operator op) {
  switch (op) {
    case Query::FieldFilter::LESS_THAN:
      return client::Op::kLess;
    case Query::FieldFilter::LESS_THAN_OR_EQUAL:
      return client::Op::kLessOrEqual;
    case Query::FieldFilter::GREATER_THAN:
      return client::Op::kGreater;
    case Query::FieldFilter::GREATER_THAN_OR_EQUAL:
      return client::Op::kGreaterOrEqual;
    case Query::FieldFilter::EQUAL:
      return client::Op::kEqual;
    case Query::FieldFilter::NOT_EQUAL:
      return client::Op::kNotEqual;
    case Query::FieldFilter::ARRAY_CONTAINS:
      return client::Op::kArrayContains;
    case Query::FieldFilter::ARRAY_CONTAINS_ANY:
      return client::Op::kArrayContainsAny;
    case Query::FieldFilter::IN:
      return client::Op::kIn;
    case Query::FieldFilter::NOT_IN:
      return client::Op::kNotIn;
    default:
      return InvalidArgument("the client has no such operator");
  }
}

client::Filter UnaryFilterToClient(const Query::UnaryFilter& filter) {
  const bool is_not = filter.op() == Query::UnaryFilter::IS_NOT_NULL ||
                      filter.op() == Query::UnaryFilter::IS_NOT_NAN;
  const bool is_null =
      filter.op() == Query::UnaryFilter::IS_NULL || filter.op() == Query::UnaryFilter::IS_NOT_NULL;
  const client::Value value =
      is_null ? client::Value() : client::Value(std::numeric_limits<double>::quiet_NaN());
  return client::Filter::Where(filter.field().field_path(),
                               is_not ? client::Op::kNotEqual : client::Op::kEqual, value);
}

Result<client::Filter> FilterToClient(const Query::Filter& filter) {
  if (filter.has_unary_filter()) return UnaryFilterToClient(filter.unary_filter());
  if (filter.has_field_filter()) {
    ASSIGN_OR_RETURN(const client::Op op, OpToClient(filter.field_filter().op()));
    ASSIGN_OR_RETURN(client::Value value, ToClient(filter.field_filter().value()));
    return client::Filter::Where(filter.field_filter().field().field_path(), op, std::move(value));
  }
  std::vector<client::Filter> filters;
  for (const Query::Filter& each : filter.composite_filter().filters()) {
    ASSIGN_OR_RETURN(client::Filter converted, FilterToClient(each));
    filters.push_back(std::move(converted));
  }
  if (filters.empty()) return InvalidArgument("the client has no filter of nothing");
  return filter.composite_filter().op() == Query::CompositeFilter::OR
             ? client::Filter::Or(std::move(filters))
             : client::Filter::And(std::move(filters));
}

Result<client::Query> SourceOf(const client::Firestore& database, const std::string& parent,
                               const Query& query) {
  const std::string root = database.transport()->database().text() + "/documents";
  if (query.from_size() != 1 || query.from(0).collection_id().empty() ||
      !parent.starts_with(root)) {
    return InvalidArgument("the client asks collections and groups by their ids only");
  }
  const std::string& id = query.from(0).collection_id();
  if (query.from(0).all_descendants()) {
    if (parent != root) return InvalidArgument("the client asks groups of whole databases only");
    const client::Query group = database.CollectionGroup(id);
    return group;
  }
  const std::string prefix = parent == root ? "" : parent.substr(root.size() + 1) + "/";
  const client::CollectionReference collection = database.Collection(prefix + id);
  const client::Query& documents = collection;
  return documents;
}

Result<std::vector<client::Value>> ValuesOf(const proto::Cursor& cursor) {
  std::vector<client::Value> values;
  for (const proto::Value& value : cursor.values()) {
    ASSIGN_OR_RETURN(client::Value converted, ToClient(value));
    values.push_back(std::move(converted));
  }
  if (values.empty()) return InvalidArgument("the client has no cursor of nothing");
  return values;
}

Result<client::Query> WithCursors(client::Query query, const Query& from) {
  if (from.has_start_at()) {
    ASSIGN_OR_RETURN(std::vector<client::Value> values, ValuesOf(from.start_at()));
    if (from.start_at().before()) {
      query = query.StartAt(std::move(values));
    } else {
      query = query.StartAfter(std::move(values));
    }
  }
  if (from.has_end_at()) {
    ASSIGN_OR_RETURN(std::vector<client::Value> values, ValuesOf(from.end_at()));
    if (from.end_at().before()) {
      query = query.EndBefore(std::move(values));
    } else {
      query = query.EndAt(std::move(values));
    }
  }
  return query;
}

Result<client::NearestOptions> NearestToClient(const Query::FindNearest& nearest) {
  client::NearestOptions options;
  options.vector_field = nearest.vector_field().field_path();
  ASSIGN_OR_RETURN(const client::Value vector, ToClient(nearest.query_vector()));
  if (!vector.vector()) return InvalidArgument("the client looks for vectors only");
  options.query_vector = vector.vector()->components;
  switch (nearest.distance_measure()) {
    case Query::FindNearest::EUCLIDEAN:
      options.measure = client::DistanceMeasure::kEuclidean;
      break;
    case Query::FindNearest::COSINE:
      options.measure = client::DistanceMeasure::kCosine;
      break;
    case Query::FindNearest::DOT_PRODUCT:
      options.measure = client::DistanceMeasure::kDotProduct;
      break;
    default:
      return InvalidArgument("the client always says how to measure");
  }
  if (!nearest.has_limit() || nearest.limit().value() < 0) {
    return InvalidArgument("the client always says how many");
  }
  options.limit = static_cast<size_t>(nearest.limit().value());
  options.distance_result_field = nearest.distance_result_field();
  if (nearest.has_distance_threshold()) {
    options.distance_threshold = nearest.distance_threshold().value();
  }
  return options;
}

}  // namespace

Result<client::Query> ToClient(const client::Firestore& database, const std::string& parent,
                               const Query& from, Last last) {
  ASSIGN_OR_RETURN(client::Query query, SourceOf(database, parent, from));
  if (from.has_where()) {
    ASSIGN_OR_RETURN(client::Filter filter, FilterToClient(from.where()));
    query = query.Where(std::move(filter));
  }
  for (const Query::Order& order : from.order_by()) {
    query = query.OrderBy(order.field().field_path(), order.direction() == Query::DESCENDING
                                                          ? client::Direction::kDescending
                                                          : client::Direction::kAscending);
  }
  ASSIGN_OR_RETURN(query, WithCursors(query, from));
  if (from.has_limit()) {
    if (from.limit().value() < 0) return InvalidArgument("the client has no negative limits");
    const auto limit = static_cast<size_t>(from.limit().value());
    if (last == Last::kYes) {
      query = query.LimitToLast(limit);
    } else {
      query = query.Limit(limit);
    }
  }
  if (from.offset() < 0) return InvalidArgument("the client has no negative offsets");
  if (from.offset() > 0) query = query.Offset(static_cast<size_t>(from.offset()));
  if (from.has_select()) {
    std::vector<std::string> paths;
    for (const auto& field : from.select().fields()) paths.push_back(field.field_path());
    query = query.Select(paths);
  }
  if (from.has_find_nearest()) {
    ASSIGN_OR_RETURN(client::NearestOptions options, NearestToClient(from.find_nearest()));
    query = query.FindNearest(std::move(options));
  }
  return query;
}

Result<std::vector<client::AggregateField>> ToClient(
    const proto::StructuredAggregationQuery& aggregate) {
  std::vector<client::AggregateField> fields;
  for (const auto& each : aggregate.aggregations()) {
    if (each.alias() != "a" + std::to_string(fields.size() + 1)) {
      return InvalidArgument("the client chooses the aliases itself");
    }
    if (each.has_count()) {
      if (each.count().has_up_to()) return InvalidArgument("the client counts without a bound");
      fields.push_back(client::AggregateField::Count());
    } else if (each.has_sum()) {
      fields.push_back(client::AggregateField::Sum(each.sum().field().field_path()));
    } else if (each.has_avg()) {
      fields.push_back(client::AggregateField::Average(each.avg().field().field_path()));
    } else {
      return InvalidArgument("the client has no such aggregate");
    }
  }
  return fields;
}

}  // namespace hearth::cases
