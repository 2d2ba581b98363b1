#include "query/matcher.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <optional>
#include <string>

#include "base/check.h"
#include "model/value.h"
#include "model/value_order.h"

namespace hearth::query {
namespace {

using model::ArrayView;
using model::CompareNames;
using model::CompareValues;
using model::DocumentName;
using model::ValueType;
using model::ValueView;

// Ranges exclude NaN, although NaN has a place in the order of numbers.
bool CanBeInRange(const ValueView& bound, const ValueView& value) {
  if (bound.IsNumber()) return value.IsNumber() && !std::isnan(value.number());
  return bound.type() == value.type();
}

bool IsInRange(Operator op, std::weak_ordering order) {
  switch (op) {
    case Operator::kLess:
      return order < 0;
    case Operator::kLessOrEqual:
      return order <= 0;
    case Operator::kGreaterOrEqual:
      return order >= 0;
    default:
      return order > 0;
  }
}

// True if `is_equal` holds for one of the items.
template <typename Predicate>
bool AnyItem(ArrayView items, Predicate is_equal) {
  while (const std::optional<ValueView> item = items.Next()) {
    if (is_equal(*item)) return true;
  }
  return false;
}

// Compares the document's name with the one in `reference`.
std::weak_ordering CompareToReference(const Candidate& candidate, const ValueView& reference) {
  constexpr std::string_view kDocuments = "/documents/";
  const std::string& database = candidate.database.text();
  const std::string_view name = reference.text();
  if (name.starts_with(database) && name.substr(database.size()).starts_with(kDocuments)) {
    return CompareNames(candidate.path.path(), name.substr(database.size() + kDocuments.size()));
  }
  return CompareNames(DocumentName{candidate.database, candidate.path}.ToString(), name);
}

bool NamePasses(const FieldFilter& filter, const Candidate& candidate) {
  const ValueView operand(filter.value);
  const auto is_name = [&candidate](const ValueView& reference) {
    return CompareToReference(candidate, reference) == 0;
  };
  switch (filter.op) {
    case Operator::kEqual:
      return is_name(operand);
    case Operator::kNotEqual:
      return !is_name(operand);
    case Operator::kNotIn:
      return !AnyItem(operand.array(), is_name);
    case Operator::kArrayContains:
      return false;
    default:
      return IsInRange(filter.op, CompareToReference(candidate, operand));
  }
}

}  // namespace

bool PassesFilter(const FieldFilter& filter, const ValueView& value) {
  const ValueView operand(filter.value);
  const auto is_value = [&value](const ValueView& other) {
    return CompareValues(value, other) == 0;
  };
  switch (filter.op) {
    case Operator::kEqual:
      return is_value(operand);
    case Operator::kNotEqual:
      return !value.IsNull() && !is_value(operand);
    case Operator::kNotIn:
      return !value.IsNull() && !AnyItem(operand.array(), is_value);
    case Operator::kArrayContains:
      return value.type() == ValueType::kArray &&
             AnyItem(value.array(), [&operand](const ValueView& item) {
               return CompareValues(item, operand) == 0;
             });
    case Operator::kLess:
    case Operator::kLessOrEqual:
    case Operator::kGreaterOrEqual:
    case Operator::kGreater:
      return CanBeInRange(operand, value) && IsInRange(filter.op, CompareValues(value, operand));
    case Operator::kArrayContainsAny:
    case Operator::kIn:
    case Operator::kIsNull:
    case Operator::kIsNan:
    case Operator::kIsNotNull:
    case Operator::kIsNotNan:
      break;
  }
  CHECK(false && "operator of a filter that is not in normal form");
  return false;
}

bool Matches(const FieldFilter& filter, const Candidate& candidate) {
  if (filter.path.IsName()) return NamePasses(filter, candidate);
  const std::optional<ValueView> value = model::FindField(candidate.fields, filter.path);
  return value && PassesFilter(filter, *value);
}

bool Matches(const Conjunction& conjunction, const Candidate& candidate) {
  return std::ranges::all_of(conjunction.filters, [&candidate](const FieldFilter& filter) {
    return Matches(filter, candidate);
  });
}

bool IsInScope(const Query& query, const model::DocumentPath& path) {
  std::string_view below = path.path();
  if (const std::string& parent = query.parent.document_path; !parent.empty()) {
    if (!below.starts_with(parent) || below.size() == parent.size()) return false;
    if (below[parent.size()] != '/') return false;
    below.remove_prefix(parent.size() + 1);
  }
  const size_t id = below.rfind('/');  // A document's path has an even number of segments.
  const std::string_view collection = below.substr(0, id);
  const size_t parent_of_collection = collection.rfind('/');
  if (!query.all_descendants && parent_of_collection != std::string_view::npos) return false;
  if (query.collection_id.empty()) return true;
  return collection.substr(parent_of_collection + 1) == query.collection_id;
}

bool Matches(const NormalizedQuery& query, const Candidate& candidate) {
  if (!IsInScope(query.query, candidate.path)) return false;
  const bool has_orders = std::ranges::all_of(query.orders, [&candidate](const Order& order) {
    return order.path.IsName() || model::FindField(candidate.fields, order.path).has_value();
  });
  return has_orders &&
         std::ranges::any_of(query.disjuncts, [&candidate](const Conjunction& conjunction) {
           return Matches(conjunction, candidate);
         });
}

}  // namespace hearth::query
