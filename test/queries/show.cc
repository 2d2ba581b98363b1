#include "queries/brute_force.h"

namespace hearth::queries {
namespace {

using query::CompositeFilter;
using query::Order;

const char* Text(query::Operator op) {
  using enum query::Operator;
  switch (op) {
    case kLess:
      return "<";
    case kLessOrEqual:
      return "<=";
    case kEqual:
      return "==";
    case kNotEqual:
      return "!=";
    case kGreaterOrEqual:
      return ">=";
    case kGreater:
      return ">";
    case kArrayContains:
      return "array-contains";
    case kArrayContainsAny:
      return "array-contains-any";
    case kIn:
      return "in";
    case kNotIn:
      return "not-in";
    case kIsNull:
      return "is null";
    case kIsNan:
      return "is NaN";
    case kIsNotNull:
      return "is not null";
    case kIsNotNan:
      break;
  }
  return "is not NaN";
}

std::string ShowBound(const query::Bound& bound) {
  std::string shown = bound.before ? "before (" : "after (";
  for (const std::string& value : bound.values) {
    shown +=
        (&value == bound.values.data() ? "" : ", ") + Show(DecodeTree(model::ValueView(value)));
  }
  return shown + ")";
}

}  // namespace

std::string Show(const query::Filter& filter) {
  if (const auto* field = std::get_if<query::FieldFilter>(&filter.filter)) {
    std::string shown = field->path.ToString() + " " + Text(field->op);
    if (!field->value.empty()) shown += " " + Show(DecodeTree(model::ValueView(field->value)));
    return shown;
  }
  const auto& composite = std::get<CompositeFilter>(filter.filter);
  std::string shown = composite.op == CompositeFilter::Operator::kAnd ? "and(" : "or(";
  for (const query::Filter& child : composite.filters) {
    shown += (&child == composite.filters.data() ? "" : ", ") + Show(child);
  }
  return shown + ")";
}

std::string Show(const query::Query& query) {
  std::string shown = "from " + (query.collection_id.empty() ? "*" : query.collection_id);
  if (query.all_descendants) shown += " at any depth";
  if (!query.parent.document_path.empty()) shown += " below " + query.parent.document_path;
  if (query.where) shown += "\n  where " + Show(*query.where);
  for (const Order& order : query.orders) {
    const bool ascends = order.direction == query::SortDirection::kAscending;
    shown += "\n  order by " + order.path.ToString() + (ascends ? " asc" : " desc");
  }
  if (query.start) shown += "\n  start " + ShowBound(*query.start);
  if (query.end) shown += "\n  end " + ShowBound(*query.end);
  if (query.offset > 0) shown += "\n  offset " + std::to_string(query.offset);
  if (query.limit) shown += "\n  limit " + std::to_string(*query.limit);
  return shown;
}

std::string Show(const std::vector<query::Aggregation>& aggregations) {
  std::string shown;
  for (const query::Aggregation& aggregation : aggregations) {
    using Kind = query::Aggregation::Kind;
    shown += shown.empty() ? "" : ", ";
    shown += aggregation.kind == Kind::kCount ? "count("
             : aggregation.kind == Kind::kSum ? "sum("
                                              : "average(";
    if (aggregation.path) shown += aggregation.path->ToString();
    if (aggregation.up_to) shown += "up to " + std::to_string(*aggregation.up_to);
    shown += ")";
  }
  return shown;
}

}  // namespace hearth::queries
