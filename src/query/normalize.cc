#include "query/normalize.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/status_macros.h"
#include "model/limits.h"
#include "model/names.h"
#include "model/reserved_name.h"
#include "model/value.h"
#include "model/value_size.h"
#include "query/filter_tree.h"

namespace hearth::query {
namespace {

using model::ArrayView;
using model::FieldPath;
using model::ValueType;
using model::ValueView;

// Firestore's name for `__name__` in its messages.
constexpr std::string_view kKey = "__key__";
constexpr std::string_view kNotAKey = "__key__ filter value must be a Key";
constexpr std::string_view kMoreAfterKey =
    "order by clause cannot contain more fields after the key";

// The path as in Firestore's messages: without quotes.
std::string TextOf(const FieldPath& path) {
  if (path.IsName()) return std::string(kKey);
  std::string text;
  for (const std::string& segment : path.segments()) {
    if (!text.empty()) text.push_back('.');
    text += segment;
  }
  return text;
}

std::string ListOf(const std::vector<FieldPath>& paths) {
  std::string text = "[";
  for (const FieldPath& path : paths) {
    if (text.size() > 1) text += ", ";
    text += TextOf(path);
  }
  return text + "]";
}

// The parts of a filter as the client wrote it.
struct FilterParts {
  std::vector<const FieldFilter*> fields;  // In textual order.
  bool has_or = false;
};

// The recursion is as deep as the filter, which the request decoder limits.
void CollectParts(const Filter& filter, FilterParts* parts) {
  if (const auto* field = std::get_if<FieldFilter>(&filter.filter)) {
    parts->fields.push_back(field);
    return;
  }
  const auto& composite = std::get<CompositeFilter>(filter.filter);
  if (composite.op == CompositeFilter::Operator::kOr) parts->has_or = true;
  for (const Filter& child : composite.filters) CollectParts(child, parts);
}

// The name of an operator that takes an array; empty for all others.
std::string_view ArrayOperatorName(Operator op) {
  switch (op) {
    case Operator::kIn:
      return "IN";
    case Operator::kNotIn:
      return "NOT_IN";
    case Operator::kArrayContainsAny:
      return "ARRAY_CONTAINS_ANY";
    default:
      return {};
  }
}

bool LooksIntoArrays(Operator op) {
  return op == Operator::kArrayContains || op == Operator::kArrayContainsAny;
}

// The left side of a filter, as in Firestore's messages.
std::string SubjectOf(const FieldFilter& filter) {
  return TextOf(filter.path) + (LooksIntoArrays(filter.op) ? "[*]" : "");
}

// True if the filter is on a field, not on the document's name.
bool IsOnFields(const FieldFilter* filter) {
  return !filter->path.IsName() || LooksIntoArrays(filter->op);
}

bool IsNegation(Operator op) {
  return op == Operator::kNotEqual || op == Operator::kNotIn || op == Operator::kIsNotNull ||
         op == Operator::kIsNotNan;
}

bool HasOperand(Operator op) {
  return op != Operator::kIsNull && op != Operator::kIsNan && op != Operator::kIsNotNull &&
         op != Operator::kIsNotNan;
}

Status CheckCollectionId(const std::string& id) {
  if (id.empty()) return Status();
  if (id.size() > model::kIdBytesMax) {
    return InvalidArgument("The query kind is longer than 1500 bytes.");
  }
  return model::ValidateCollectionId(id);
}

Status CheckArrayOperand(const FieldFilter& filter) {
  const std::string_view name = ArrayOperatorName(filter.op);
  if (name.empty()) return Status();
  const std::string quoted = "'" + std::string(name) + "'";
  const ValueView value(filter.value);
  if (value.type() != ValueType::kArray) {
    return InvalidArgument(quoted + " requires an ArrayValue.");
  }
  size_t count = 0;
  for (ArrayView rest = value.array(); rest.Next();) ++count;
  if (count == 0) return InvalidArgument(quoted + " requires an non-empty ArrayValue.");
  const size_t max = filter.op == Operator::kNotIn ? kNotInValuesMax : kDisjunctionsMax;
  if (count > max) {
    return InvalidArgument(quoted + " supports up to " + std::to_string(max) +
                           " comparison values.");
  }
  return Status();
}

// Checks each filter by itself.
Status CheckShape(const Filter& filter) {
  if (const auto* field = std::get_if<FieldFilter>(&filter.filter)) {
    return CheckArrayOperand(*field);
  }
  const auto& composite = std::get<CompositeFilter>(filter.filter);
  if (composite.filters.empty()) {
    return InvalidArgument("Composite filter must have at least one sub-filter.");
  }
  for (const Filter& child : composite.filters) RETURN_IF_ERROR(CheckShape(child));
  return Status();
}

// Checks which operators may be combined.
Status CheckOperators(const FilterParts& parts) {
  const auto negations = std::ranges::count_if(
      parts.fields, [](const FieldFilter* filter) { return IsNegation(filter->op); });
  if (negations > 1) {
    return InvalidArgument(
        "Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per "
        "query.");
  }
  bool has_not_in = false;
  bool has_disjunction = parts.has_or;
  for (const FieldFilter* filter : parts.fields) {
    has_not_in = has_not_in || filter->op == Operator::kNotIn;
    has_disjunction =
        has_disjunction || filter->op == Operator::kIn || filter->op == Operator::kArrayContainsAny;
  }
  if (has_not_in && has_disjunction) {
    return InvalidArgument(
        "'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' or 'OR'.");
  }
  return Status();
}

// The database part of a document's name: everything before "/documents".
std::string_view DatabaseOf(std::string_view document_name) {
  size_t end = 0;
  for (int segment = 0; segment < 4; ++segment) end = document_name.find('/', end + 1);
  return document_name.substr(0, end);
}

Status CheckBound(const Query& query, const std::optional<Bound>& bound) {
  if (!bound) return Status();
  if (bound->values.size() > query.orders.size()) {
    return InvalidArgument("Cursor has too many values.");
  }
  for (size_t i = 0; i < bound->values.size(); ++i) {
    if (!query.orders[i].path.IsName()) continue;
    const ValueView value(bound->values[i]);
    if (value.type() != ValueType::kReference) {
      return InvalidArgument("Cursor __key__ value is not a document reference.");
    }
    if (DatabaseOf(value.text()) != query.parent.database.text()) {
      return InvalidArgument("The cursor key is in a different database than the query");
    }
  }
  return Status();
}

// Checks the nearest-neighbour search itself.
Status CheckNearest(const FindNearest& nearest) {
  if (nearest.query_vector.empty()) return InvalidArgument("Cannot have a zero length vector.");
  if (nearest.query_vector.size() > model::kVectorDimensionsMax) {
    return InvalidArgument("Vectors must be at most 2048 dimensions.");
  }
  if (nearest.limit == 0 || nearest.limit > kNearestResultsMax) {
    return InvalidArgument("FindNearest.limit must be a positive integer of no more than 1000");
  }
  if (nearest.distance_threshold && !std::isfinite(*nearest.distance_threshold)) {
    return InvalidArgument("distanceThreshold must be a finite number.");
  }
  if (nearest.distance_result_field && nearest.distance_result_field->IsName()) {
    return InvalidArgument("The distanceResultField.property.name \"__name__\" is reserved.");
  }
  return Status();
}

// Checks for clauses that cannot be combined with a nearest-neighbour search.
Status CheckAroundNearest(const Query& query) {
  if (query.limit) return InvalidArgument("A query limit cannot be used with FindNearest");
  if (query.offset > 0) return InvalidArgument("A query offset cannot be used with FindNearest");
  if (query.start || query.end) {
    return InvalidArgument("A cursor cannot be used with FindNearest");
  }
  return Status();
}

bool OrdersByFields(const Query& query) {
  return std::ranges::any_of(query.orders, [](const Order& order) { return !order.path.IsName(); });
}

Status CheckBelowDocument(const Query& query, const FilterParts& parts) {
  const bool filters_fields = std::ranges::any_of(parts.fields, IsOnFields);
  if (IsBelowDocument(query) && (filters_fields || OrdersByFields(query))) {
    return InvalidArgument("collection group queries are only allowed at the root parent");
  }
  return Status();
}

Status CheckFilterCount(const Query& query, const FilterTree& tree) {
  const size_t filters = tree.FilterCount();
  const bool has_ancestor = !query.parent.document_path.empty();
  if (filters + query.orders.size() + (has_ancestor ? 1 : 0) > kFiltersAndOrdersMax) {
    return InvalidArgument(
        "The query may not have more than 100 filters + sort orders + ancestor total. Currently "
        "there are " +
        std::to_string(filters) + " filters, " + std::to_string(query.orders.size()) +
        " sort orders, and " + (has_ancestor ? "one" : "no") + " ancestor filter.");
  }
  return Status();
}

// A query over all collections can only be ordered by name.
Status CheckOrdersWithoutCollection(const Query& query) {
  const bool is_by_name = std::ranges::all_of(query.orders, [](const Order& order) {
    return order.path.IsName() && order.direction == SortDirection::kAscending;
  });
  if (!query.collection_id.empty() || is_by_name) return Status();
  return InvalidArgument("kind is required for all orders except __key__ ascending");
}

Status CheckNameOperand(const Query& query, const ValueView& value) {
  if (value.type() != ValueType::kReference) {
    return InvalidArgument(std::string(kNotAKey));
  }
  const std::string_view database = DatabaseOf(value.text());
  if (database == query.parent.database.text()) return Status();
  return InvalidArgument("The request was for database '" + query.parent.database.text() +
                         "' but was attempting to access database '" + std::string(database) + "'");
}

// Fields are ordered only within a collection.
Status CheckFieldFilter(const Query& query, const FieldFilter& filter) {
  if (!query.collection_id.empty()) return Status();
  return InvalidArgument("kind is required for filter: " + SubjectOf(filter));
}

Status CheckFieldOperand(const Query& query, const FieldFilter& filter, const ValueView& value) {
  if (model::ValueSizeBytes(value) <= kOperandBytesMax) return CheckFieldFilter(query, filter);
  return InvalidArgument("value for " + SubjectOf(filter) + " is too large to be used in a query");
}

// Checks what a filter compares, and with what.
Status CheckOperands(const Query& query, const FieldFilter& filter) {
  const bool is_name = filter.path.IsName();
  if (is_name && LooksIntoArrays(filter.op)) return InvalidArgument("the name __key__ is reserved");
  if (!HasOperand(filter.op)) {
    return is_name ? InvalidArgument(std::string(kNotAKey)) : CheckFieldFilter(query, filter);
  }
  const auto check = [&](const ValueView& value) {
    return is_name ? CheckNameOperand(query, value) : CheckFieldOperand(query, filter, value);
  };
  const ValueView value(filter.value);
  if (ArrayOperatorName(filter.op).empty()) return check(value);
  for (ArrayView rest = value.array(); const auto item = rest.Next();) {
    RETURN_IF_ERROR(check(*item));
  }
  return Status();
}

Status CheckInequalities(const std::vector<FieldPath>& paths, const FilterParts& parts) {
  if (paths.size() > kInequalityFieldsMax) {
    return InvalidArgument("The query contains " + std::to_string(paths.size()) +
                           " distinct inequality fields: " + ListOf(paths) +
                           ". A query may not have more than 10 distinct inequality fields.");
  }
  const bool has_name_equality = std::ranges::any_of(parts.fields, [](const FieldFilter* filter) {
    return filter->path.IsName() && (filter->op == Operator::kEqual || filter->op == Operator::kIn);
  });
  if (has_name_equality && !paths.empty() && std::ranges::none_of(paths, &FieldPath::IsName)) {
    return InvalidArgument(
        "Equality on key is not allowed if there are other inequality fields and key does not "
        "appear in inequalities.");
  }
  return Status();
}

Status CheckOrders(const std::vector<Order>& orders) {
  std::set<FieldPath> seen;
  for (size_t i = 0; i < orders.size(); ++i) {
    if (i > 0 && orders[i - 1].path.IsName()) return InvalidArgument(std::string(kMoreAfterKey));
    if (!seen.insert(orders[i].path).second) {
      return InvalidArgument("order by clause cannot contain duplicate fields " +
                             TextOf(orders[i].path));
    }
  }
  return Status();
}

bool HasOrder(const std::vector<Order>& orders, const FieldPath& path) {
  return std::ranges::find(orders, path, &Order::path) != orders.end();
}

// The paths that have no order yet. The name needs none: it is always the last order.
std::vector<FieldPath> WithoutOrder(const std::vector<FieldPath>& paths,
                                    const std::vector<Order>& orders) {
  std::vector<FieldPath> rest;
  std::ranges::copy_if(paths, std::back_inserter(rest), [&orders](const FieldPath& path) {
    return !path.IsName() && !HasOrder(orders, path);
  });
  return rest;
}

// Adds the orders that inequalities imply.
Result<std::vector<Order>> CompleteOrders(const std::vector<Order>& stated,
                                          const std::vector<FieldPath>& inequality_paths) {
  RETURN_IF_ERROR(CheckOrders(stated));
  std::vector<Order> orders = stated;
  const SortDirection direction =
      stated.empty() ? SortDirection::kAscending : stated.back().direction;
  const bool ends_with_name = !stated.empty() && stated.back().path.IsName();
  for (FieldPath& path : WithoutOrder(inequality_paths, stated)) {
    if (ends_with_name) return InvalidArgument(std::string(kMoreAfterKey));
    orders.push_back({std::move(path), direction});
  }
  if (!ends_with_name) orders.push_back({*FieldPath::Parse("__name__"), direction});
  return orders;
}

// True if the client stated an order by name, as opposed to an implied one.
bool StatesNameOrder(const Query& query) {
  return !query.orders.empty() && query.orders.back().path.IsName();
}

Status CheckAlias(std::string_view alias) {
  if (alias.size() > model::kFieldNameBytesMax) {
    return InvalidArgument("The property.name is longer than 1500 bytes.");
  }
  if (model::IsReservedName(alias)) {
    return InvalidArgument("The property.name \"" + std::string(alias) + "\" is reserved.");
  }
  return Status();
}

// A projection cannot be combined with a sum or average. The error depends on what the projection
// lacks.
Status CheckProjection(const Query& query, const std::vector<Aggregation>& aggregations) {
  const bool has_fields = std::ranges::any_of(
      aggregations, [](const Aggregation& aggregation) { return aggregation.path.has_value(); });
  if (!query.select || !has_fields) return Status();
  if (std::ranges::all_of(*query.select, &FieldPath::IsName)) {
    return InvalidArgument(
        "Aggregation over non-key properties is not supported for base query that only returns "
        "keys.");
  }
  for (const Aggregation& aggregation : aggregations) {
    const bool is_selected =
        !aggregation.path ||
        std::ranges::any_of(*query.select, [&aggregation](const FieldPath& selected) {
          return selected.IsPrefixOf(*aggregation.path);
        });
    if (!is_selected) {
      return InvalidArgument("The aggregation property " + TextOf(*aggregation.path) +
                             " is not present in the base query's property mask.");
    }
  }
  return InvalidArgument("Cannot apply property masks when aggregation fields are present.");
}

// True for a query that filters or orders by name: no field can follow the name in its order.
bool IsAboutNames(const Query& query) {
  FilterParts parts;
  if (query.where) CollectParts(*query.where, &parts);
  return StatesNameOrder(query) || std::ranges::any_of(parts.fields, [](const FieldFilter* filter) {
           return filter->path.IsName();
         });
}

}  // namespace

// The order of the checks decides which of several errors is reported. It is the same as
// Firestore's.
Result<NormalizedQuery> Normalize(Query query) {
  FilterParts parts;
  if (query.where) CollectParts(*query.where, &parts);
  RETURN_IF_ERROR(CheckCollectionId(query.collection_id));
  RETURN_IF_ERROR(CheckOperators(parts));
  if (query.where) RETURN_IF_ERROR(CheckShape(*query.where));
  RETURN_IF_ERROR(CheckBound(query, query.start));
  RETURN_IF_ERROR(CheckBound(query, query.end));
  if (query.nearest) RETURN_IF_ERROR(CheckNearest(*query.nearest));

  const FilterTree tree = query.where ? FilterTree(*query.where) : FilterTree();
  RETURN_IF_ERROR(CheckBelowDocument(query, parts));
  RETURN_IF_ERROR(CheckFilterCount(query, tree));
  if (tree.ArrayContainsCount() > 1) {
    return InvalidArgument("A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.");
  }
  RETURN_IF_ERROR(CheckOrdersWithoutCollection(query));
  for (const FieldFilter* filter : parts.fields) RETURN_IF_ERROR(CheckOperands(query, *filter));
  if (query.nearest) RETURN_IF_ERROR(CheckAroundNearest(query));

  const std::vector<FieldPath> inequality_paths = tree.InequalityPaths();
  RETURN_IF_ERROR(CheckInequalities(inequality_paths, parts));
  ASSIGN_OR_RETURN(std::vector<Conjunction> disjuncts, tree.Disjuncts());
  ASSIGN_OR_RETURN(std::vector<Order> orders, CompleteOrders(query.orders, inequality_paths));
  return NormalizedQuery{std::move(query), std::move(disjuncts), std::move(orders)};
}

Status CheckAggregations(const std::vector<Aggregation>& aggregations) {
  if (aggregations.empty()) return InvalidArgument("Aggregations can not be empty.");
  if (aggregations.size() > kAggregationsMax) {
    return InvalidArgument(
        "The maximum number of aggregations allowed in an aggregation query is 5. Received: " +
        std::to_string(aggregations.size()) + ".");
  }
  for (const Aggregation& aggregation : aggregations) {
    if (aggregation.up_to == 0) {
      return InvalidArgument("The `up_to` value in a COUNT aggregation must be greater than zero.");
    }
    RETURN_IF_ERROR(CheckAlias(aggregation.alias));
  }
  std::set<std::string_view> aliases;
  for (const Aggregation& aggregation : aggregations) {
    if (!aliases.insert(aggregation.alias).second) {
      return InvalidArgument("Aggregation aliases contain duplicate alias: " + aggregation.alias +
                             ".");
    }
  }
  for (const Aggregation& aggregation : aggregations) {
    if (aggregation.path && aggregation.path->IsName()) {
      return InvalidArgument("Aggregations are not supported for the property: __key__");
    }
  }
  return Status();
}

Result<NormalizedQuery> Normalize(Query query, const std::vector<Aggregation>& aggregations) {
  ASSIGN_OR_RETURN(NormalizedQuery normalized, Normalize(std::move(query)));
  RETURN_IF_ERROR(CheckAggregations(aggregations));
  std::set<FieldPath> aggregated;
  for (const Aggregation& aggregation : aggregations) {
    if (aggregation.path) aggregated.insert(*aggregation.path);
  }
  RETURN_IF_ERROR(CheckProjection(normalized.query, aggregations));
  std::vector<FieldPath> more =
      WithoutOrder({aggregated.begin(), aggregated.end()}, normalized.orders);
  if (more.empty()) return normalized;
  if (IsAboutNames(normalized.query) || IsBelowDocument(normalized.query)) {
    return InvalidArgument("This query requires an index that has fields " + ListOf(more) +
                           " after __name__ and Firestore does not currently support such an "
                           "index. Please try the query again with additional ordering on those "
                           "fields.");
  }
  Order name = std::move(normalized.orders.back());
  normalized.orders.pop_back();
  for (FieldPath& path : more) normalized.orders.push_back({std::move(path), name.direction});
  normalized.orders.push_back(std::move(name));
  return normalized;
}

}  // namespace hearth::query
