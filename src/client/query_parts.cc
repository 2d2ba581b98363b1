#include "client/query_parts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "model/fields.h"
#include "model/names.h"

namespace hearth::client {
namespace {

using model::FieldPath;
using query::CompositeFilter;
using query::FieldFilter;
using query::Operator;
using query::Order;
using query::SortDirection;

Operator ToOperator(Op op) {
  switch (op) {
    case Op::kLess:
      return Operator::kLess;
    case Op::kLessOrEqual:
      return Operator::kLessOrEqual;
    case Op::kEqual:
      return Operator::kEqual;
    case Op::kNotEqual:
      return Operator::kNotEqual;
    case Op::kGreaterOrEqual:
      return Operator::kGreaterOrEqual;
    case Op::kGreater:
      return Operator::kGreater;
    case Op::kArrayContains:
      return Operator::kArrayContains;
    case Op::kArrayContainsAny:
      return Operator::kArrayContainsAny;
    case Op::kIn:
      return Operator::kIn;
    case Op::kNotIn:
      return Operator::kNotIn;
  }
  return Operator::kEqual;
}

// As it appears in error messages.
std::string_view NameOf(Op op) {
  switch (op) {
    case Op::kArrayContains:
      return "array-contains";
    case Op::kArrayContainsAny:
      return "array-contains-any";
    case Op::kIn:
      return "in";
    case Op::kNotIn:
      return "not-in";
    default:
      return "comparison";
  }
}

bool HasChoices(Op op) { return op == Op::kIn || op == Op::kNotIn || op == Op::kArrayContainsAny; }

bool IsNan(const Value& value) {
  return !value.integer() && value.number() && std::isnan(*value.number());
}

// Null and NaN have unary operators. nullopt for other values.
Result<std::optional<Operator>> UnaryOperator(Op op, const Value& value) {
  const bool is_nan = IsNan(value);
  if (!value.IsNull() && !is_nan) return std::optional<Operator>();
  if (op == Op::kEqual) return std::optional(is_nan ? Operator::kIsNan : Operator::kIsNull);
  if (op == Op::kNotEqual) {
    return std::optional(is_nan ? Operator::kIsNotNan : Operator::kIsNotNull);
  }
  return InvalidArgument(
      std::string("Invalid query. You can only perform '==' and '!=' comparisons on ") +
      (is_nan ? "NaN." : "Null."));
}

Result<std::string> EncodeOperand(const Value& value) {
  ASSIGN_OR_RETURN(std::string encoded, Encode(value));
  return model::ValidateValue(std::move(encoded));
}

void CollectInequalities(const query::Filter& filter, std::set<FieldPath>* paths) {
  if (const auto* field = std::get_if<FieldFilter>(&filter.filter)) {
    if (query::IsInequality(field->op)) paths->insert(field->path);
    return;
  }
  for (const query::Filter& part : std::get<CompositeFilter>(filter.filter).filters) {
    CollectInequalities(part, paths);
  }
}

FieldPath NamePath() { return *FieldPath::Parse("__name__"); }

// The common prefix of the names of all results, without the last '/'.
std::string BasePath(const query::Query& query) {
  std::string path = query.parent.document_path;
  if (query.all_descendants) return path;
  if (!path.empty()) path.push_back('/');
  return path + query.collection_id;
}

std::string FullName(const query::Query& query, std::string_view path) {
  return (query.parent.database.text() + "/documents/").append(path);
}

Result<std::string> NameOfId(const query::Query& query, const std::string& id) {
  if (!query.all_descendants && id.find('/') != std::string::npos) {
    return InvalidArgument(
        "When querying a collection and ordering by FieldPath.documentId(), the corresponding "
        "value must be a plain document ID, but '" +
        id + "' contains a slash.");
  }
  std::string path = BasePath(query);
  if (!path.empty()) path.push_back('/');
  path += id;
  const auto slashes = std::count(path.begin(), path.end(), '/');
  if (query.all_descendants && slashes % 2 == 0) {
    return InvalidArgument(
        "When querying a collection group and ordering by FieldPath.documentId(), the "
        "corresponding value must result in a valid document path, but '" +
        id + "' is not because it contains an odd number of segments.");
  }
  RETURN_IF_ERROR(model::DocumentPath::Parse(path).status());
  return FullName(query, path);
}

Result<std::string> NameOfReference(const query::Query& query, const std::string& name) {
  ASSIGN_OR_RETURN(const model::DocumentName document, model::DocumentName::Parse(name));
  if (document.database != query.parent.database) return name;  // The database reports the error.
  const std::string base = BasePath(query);
  if (!base.empty() && !document.path.path().starts_with(base + "/")) {
    return InvalidArgument('"' + document.path.path() +
                           "\" is not part of the query result set and cannot be used as a query "
                           "boundary.");
  }
  if (!query.all_descendants && document.path.collection() != base) {
    return InvalidArgument("Only a direct child can be used as a query boundary. Found: \"" +
                           document.path.path() + "\".");
  }
  return name;
}

}  // namespace

Result<std::string> ReadNameValue(const query::Query& query, const Value& value) {
  if (const std::string* id = value.text()) {
    ASSIGN_OR_RETURN(const std::string name, NameOfId(query, *id));
    return model::EncodeReference(name);
  }
  if (const Reference* reference = value.reference()) {
    ASSIGN_OR_RETURN(const std::string name, NameOfReference(query, reference->name));
    return model::EncodeReference(name);
  }
  return InvalidArgument(
      "The corresponding value for FieldPath.documentId() must be a string or a "
      "DocumentReference, but was \"" +
      ToString(value) + "\".");
}

Result<std::optional<query::Filter>> FilterReader::Read(const Filter& filter) const {
  if (filter.join_ == Filter::Join::kNone) {
    ASSIGN_OR_RETURN(query::Filter comparison, ReadComparison(filter.comparison_.at(0)));
    return std::optional(std::move(comparison));
  }
  const bool is_or = filter.join_ == Filter::Join::kOr;
  CompositeFilter composite{
      is_or ? CompositeFilter::Operator::kOr : CompositeFilter::Operator::kAnd, {}};
  for (const Filter& part : filter.filters_) {
    ASSIGN_OR_RETURN(std::optional<query::Filter> read, Read(part));
    if (read) composite.filters.push_back(*std::move(read));
  }
  if (composite.filters.empty()) return std::optional<query::Filter>();
  if (composite.filters.size() == 1) return std::optional(std::move(composite.filters[0]));
  return std::optional(query::Filter{std::move(composite)});
}

Result<query::Filter> FilterReader::ReadComparison(const Filter::Comparison& comparison) const {
  ASSIGN_OR_RETURN(FieldPath path, FieldPath::Parse(comparison.field_path));
  ASSIGN_OR_RETURN(const std::optional<Operator> unary,
                   UnaryOperator(comparison.op, comparison.value));
  if (unary && !path.IsName()) return query::Filter{FieldFilter{std::move(path), *unary, ""}};
  ASSIGN_OR_RETURN(std::string operand, ReadOperand(path, comparison.op, comparison.value));
  return query::Filter{FieldFilter{std::move(path), ToOperator(comparison.op), std::move(operand)}};
}

Result<std::string> FilterReader::ReadOperand(const FieldPath& path, Op op,
                                              const Value& value) const {
  if (path.IsName()) return ReadNameOperand(op, value);
  const Array* choices = value.array();
  if (!HasChoices(op) || !choices) return EncodeOperand(value);
  // One by one, because they may include arrays and vectors, which no stored array can hold.
  std::vector<std::string> encoded;
  for (const Value& choice : *choices) {
    ASSIGN_OR_RETURN(std::string each, EncodeOperand(choice));
    encoded.push_back(std::move(each));
  }
  return model::EncodeArray(encoded);
}

Result<std::string> FilterReader::ReadNameOperand(Op op, const Value& value) const {
  if (op == Op::kArrayContains || op == Op::kArrayContainsAny) {
    return InvalidArgument("Invalid Query. You can't perform '" + std::string(NameOf(op)) +
                           "' queries on FieldPath.documentId().");
  }
  if (!HasChoices(op)) return ReadNameValue(query_, value);
  const Array* choices = value.array();
  if (!choices || choices->empty()) {
    return InvalidArgument("Invalid Query. A non-empty array is required for '" +
                           std::string(NameOf(op)) + "' filters.");
  }
  std::vector<std::string> names;
  for (const Value& choice : *choices) {
    ASSIGN_OR_RETURN(std::string name, ReadNameValue(query_, choice));
    names.push_back(std::move(name));
  }
  return model::EncodeArray(names);
}

std::vector<Order> OrdersWithImplicit(const query::Query& query) {
  std::vector<Order> orders = query.orders;
  const SortDirection direction =
      orders.empty() ? SortDirection::kAscending : orders.back().direction;
  const auto is_ordered = [&orders](const FieldPath& path) {
    return std::any_of(orders.begin(), orders.end(),
                       [&path](const Order& order) { return order.path == path; });
  };
  std::set<FieldPath> inequalities;
  if (query.where) CollectInequalities(*query.where, &inequalities);
  for (const FieldPath& path : inequalities) {
    if (!path.IsName() && !is_ordered(path)) orders.push_back({path, direction});
  }
  if (!is_ordered(NamePath())) orders.push_back({NamePath(), direction});
  return orders;
}

Result<std::vector<std::string>> CursorValues(const query::Query& query,
                                              const std::vector<Order>& orders,
                                              const std::vector<Value>& values) {
  if (values.size() > orders.size()) {
    return InvalidArgument(
        "Too many cursor values specified. The specified values must match the orderBy() "
        "constraints of the query.");
  }
  std::vector<std::string> encoded;
  for (size_t i = 0; i < values.size(); ++i) {
    ASSIGN_OR_RETURN(std::string each, orders[i].path.IsName() ? ReadNameValue(query, values[i])
                                                               : EncodeOperand(values[i]));
    encoded.push_back(std::move(each));
  }
  return encoded;
}

Result<std::vector<std::string>> CursorValues(const query::Query& query,
                                              const std::vector<Order>& orders,
                                              const DocumentSnapshot& document) {
  std::vector<std::string> encoded;
  for (const Order& order : orders) {
    if (order.path.IsName()) {
      ASSIGN_OR_RETURN(std::string name,
                       ReadNameValue(query, Reference{FullName(query, document.path().path())}));
      encoded.push_back(std::move(name));
      continue;
    }
    const std::optional<Value> value = document.Get(order.path.ToString());
    if (!value) {
      return InvalidArgument("Field \"" + order.path.ToString() +
                             "\" is missing in the provided DocumentSnapshot. Please provide a "
                             "document that contains values for all specified orderBy() and "
                             "where() constraints.");
    }
    ASSIGN_OR_RETURN(std::string each, EncodeOperand(*value));
    encoded.push_back(std::move(each));
  }
  return encoded;
}

query::Query Reversed(query::Query query) {
  for (Order& order : query.orders) {
    order.direction = order.direction == SortDirection::kAscending ? SortDirection::kDescending
                                                                   : SortDirection::kAscending;
  }
  std::swap(query.start, query.end);
  if (query.start) query.start->before = !query.start->before;
  if (query.end) query.end->before = !query.end->before;
  return query;
}

}  // namespace hearth::client
