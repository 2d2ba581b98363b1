#include "queries/brute_force.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <variant>

namespace hearth::queries {
namespace {

using model::FieldPath;
using model::ValueType;
using query::Aggregation;
using query::Bound;
using query::CompositeFilter;
using query::FieldFilter;
using query::Filter;
using query::Operator;
using query::Order;
using query::Query;
using query::SortDirection;

struct Row {
  std::string path;
  const Document* document;
};

bool IsNull(const Tree& tree) { return tree.type == ValueType::kNull; }

Tree Decode(const std::string& encoded) { return DecodeTree(model::ValueView(encoded)); }

std::string ReferencePath(const Tree& reference) {
  constexpr std::string_view kDocuments = "/documents/";
  return reference.text.substr(reference.text.find(kDocuments) + kDocuments.size());
}

bool AreOfOneType(const Tree& left, const Tree& right) {
  if (IsNumber(left)) return IsNumber(right);
  return left.type == right.type;
}

// Comparisons with null and NaN match nothing.
bool AreEqual(const Tree& value, const Tree& operand) {
  return !IsNull(operand) && !IsNan(operand) && CompareTrees(value, operand) == 0;
}

bool IsInRange(Operator op, int order) {
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

bool NameHolds(const FieldFilter& filter, const std::string& path) {
  const Tree operand = Decode(filter.value);
  const auto is_named = [&path](const Tree& item) { return ReferencePath(item) == path; };
  switch (filter.op) {
    case Operator::kEqual:
      return is_named(operand);
    case Operator::kNotEqual:
      return !is_named(operand);
    case Operator::kIn:
      return std::ranges::any_of(operand.items, is_named);
    case Operator::kNotIn:
      return std::ranges::none_of(operand.items, is_named);
    default:
      return IsInRange(filter.op, ComparePaths(path, ReferencePath(operand)));
  }
}

bool ValueHolds(const FieldFilter& filter, const Tree& value) {
  if (filter.op == Operator::kIsNull) return IsNull(value);
  if (filter.op == Operator::kIsNan) return IsNan(value);
  if (filter.op == Operator::kIsNotNull) return !IsNull(value);
  if (filter.op == Operator::kIsNotNan) return !IsNull(value) && !IsNan(value);
  const Tree operand = Decode(filter.value);
  const auto is_value = [&value](const Tree& item) { return AreEqual(value, item); };
  const auto contains = [&value](const Tree& item) {
    return value.type == ValueType::kArray &&
           std::ranges::any_of(value.items, [&](const Tree& each) { return AreEqual(each, item); });
  };
  switch (filter.op) {
    case Operator::kEqual:
      return is_value(operand);
    case Operator::kNotEqual:
      return !IsNull(operand) && !IsNull(value) && !is_value(operand);
    case Operator::kIn:
      return std::ranges::any_of(operand.items, is_value);
    case Operator::kNotIn:
      return std::ranges::none_of(operand.items, IsNull) && !IsNull(value) &&
             std::ranges::none_of(operand.items, is_value);
    case Operator::kArrayContains:
      return contains(operand);
    case Operator::kArrayContainsAny:
      return std::ranges::any_of(operand.items, contains);
    default:
      return !IsNull(operand) && !IsNan(operand) && !IsNan(value) && AreOfOneType(operand, value) &&
             IsInRange(filter.op, CompareTrees(value, operand));
  }
}

bool Holds(const Filter& filter, const Row& row) {
  if (const auto* field = std::get_if<FieldFilter>(&filter.filter)) {
    if (field->path.IsName()) return NameHolds(*field, row.path);
    const Tree* value = Find(*row.document, field->path);
    return value != nullptr && ValueHolds(*field, *value);
  }
  const auto& composite = std::get<CompositeFilter>(filter.filter);
  const auto holds = [&row](const Filter& child) { return Holds(child, row); };
  return composite.op == CompositeFilter::Operator::kAnd
             ? std::ranges::all_of(composite.filters, holds)
             : std::ranges::any_of(composite.filters, holds);
}

// A comparison that can match nothing implies no order.
bool ImpliesOrder(const FieldFilter& filter) {
  switch (filter.op) {
    case Operator::kIsNotNull:
    case Operator::kIsNotNan:
      return true;
    case Operator::kNotEqual:
      return !IsNull(Decode(filter.value));
    case Operator::kNotIn:
      return !std::ranges::all_of(Decode(filter.value).items, IsNull);
    case Operator::kLess:
    case Operator::kLessOrEqual:
    case Operator::kGreater:
    case Operator::kGreaterOrEqual:
      return !IsNull(Decode(filter.value)) && !IsNan(Decode(filter.value));
    default:
      return false;
  }
}

void CollectInequalities(const Filter& filter, std::set<FieldPath>* paths) {
  if (const auto* field = std::get_if<FieldFilter>(&filter.filter)) {
    if (ImpliesOrder(*field)) paths->insert(field->path);
    return;
  }
  for (const Filter& child : std::get<CompositeFilter>(filter.filter).filters) {
    CollectInequalities(child, paths);
  }
}

// The stated orders, those of inequalities, those of `more`, and the order by name.
std::vector<Order> AllOrders(const Query& query, const std::set<FieldPath>& more) {
  std::vector<Order> orders = query.orders;
  const SortDirection direction =
      orders.empty() ? SortDirection::kAscending : orders.back().direction;
  const auto append = [&](const FieldPath& path) {
    for (const Order& order : orders) {
      if (order.path == path) return;
    }
    orders.push_back({path, direction});
  };
  std::set<FieldPath> inequalities;
  if (query.where) CollectInequalities(*query.where, &inequalities);
  const FieldPath name = *FieldPath::Parse("__name__");
  inequalities.erase(name);
  for (const FieldPath& path : inequalities) append(path);
  for (const FieldPath& path : more) append(path);
  append(name);
  return orders;
}

int CompareRows(const Row& left, const Row& right, const std::vector<Order>& orders) {
  for (const Order& order : orders) {
    const int result = order.path.IsName() ? ComparePaths(left.path, right.path)
                                           : CompareTrees(*Find(*left.document, order.path),
                                                          *Find(*right.document, order.path));
    if (result != 0) return order.direction == SortDirection::kAscending ? result : -result;
  }
  return 0;
}

int CompareToBound(const Row& row, const Bound& bound, const std::vector<Order>& orders) {
  for (size_t i = 0; i < bound.values.size(); ++i) {
    const Tree value = Decode(bound.values[i]);
    const int result = orders[i].path.IsName()
                           ? ComparePaths(row.path, ReferencePath(value))
                           : CompareTrees(*Find(*row.document, orders[i].path), value);
    if (result != 0) return orders[i].direction == SortDirection::kAscending ? result : -result;
  }
  return 0;
}

bool IsWithinBounds(const Row& row, const Query& query, const std::vector<Order>& orders) {
  if (query.start) {
    const int order = CompareToBound(row, *query.start, orders);
    if (order < 0 || (order == 0 && !query.start->before)) return false;
  }
  if (query.end) {
    const int order = CompareToBound(row, *query.end, orders);
    if (order > 0 || (order == 0 && query.end->before)) return false;
  }
  return true;
}

bool IsInScope(const std::string& path, const Query& query) {
  std::string below = path;
  if (!query.parent.document_path.empty()) {
    const std::string prefix = query.parent.document_path + "/";
    if (!path.starts_with(prefix)) return false;
    below = path.substr(prefix.size());
  }
  std::vector<std::string> segments(1);
  for (const char character : below) {
    if (character == '/') {
      segments.emplace_back();
    } else {
      segments.back().push_back(character);
    }
  }
  if (!query.all_descendants && segments.size() != 2) return false;
  return query.collection_id.empty() || segments[segments.size() - 2] == query.collection_id;
}

std::vector<Row> Rows(const Query& query, const std::set<FieldPath>& more,
                      const Documents& documents) {
  const std::vector<Order> orders = AllOrders(query, more);
  std::vector<Row> rows;
  for (const auto& [path, document] : documents) {
    const Row row{path, document.get()};
    const bool has_all = std::ranges::all_of(orders, [&row](const Order& order) {
      return order.path.IsName() || Find(*row.document, order.path) != nullptr;
    });
    if (has_all && IsInScope(path, query) && (!query.where || Holds(*query.where, row)) &&
        IsWithinBounds(row, query, orders)) {
      rows.push_back(row);
    }
  }
  std::ranges::sort(rows, [&](const Row& left, const Row& right) {
    return CompareRows(left, right, orders) < 0;
  });
  rows.erase(rows.begin(),
             rows.begin() + static_cast<ptrdiff_t>(std::min<size_t>(query.offset, rows.size())));
  if (query.limit && *query.limit < rows.size()) rows.resize(*query.limit);
  return rows;
}

// Adds the doubles in order, with Neumaier's compensation.
double SumOfDoubles(const std::vector<Tree>& numbers) {
  double sum = 0;
  double lost = 0;
  for (const Tree& tree : numbers) {
    if (tree.type != ValueType::kDouble) continue;
    const double number = tree.number;
    const double next = sum + number;
    if (std::isfinite(next)) {
      const bool sum_is_larger = std::fabs(sum) >= std::fabs(number);
      lost += sum_is_larger ? (sum - next) + number : (number - next) + sum;
    }
    sum = next;
  }
  return std::isfinite(sum) ? sum + lost : sum;
}

Tree AggregateNumbers(Aggregation::Kind kind, const std::vector<Tree>& numbers) {
  __extension__ typedef __int128 Wide;
  Wide integers = 0;
  bool has_double = false;
  for (const Tree& tree : numbers) {
    has_double = has_double || tree.type == ValueType::kDouble;
    if (tree.type == ValueType::kInteger) integers += tree.integer;
  }
  const double sum = static_cast<double>(integers) + SumOfDoubles(numbers);
  if (kind == Aggregation::Kind::kAverage) {
    return numbers.empty() ? Tree() : DoubleTree(sum / static_cast<double>(numbers.size()));
  }
  const bool fits = integers >= std::numeric_limits<int64_t>::min() &&
                    integers <= std::numeric_limits<int64_t>::max();
  return has_double || !fits ? DoubleTree(sum) : IntegerTree(static_cast<int64_t>(integers));
}

}  // namespace

std::vector<std::string> Evaluate(const Query& query, const Documents& documents) {
  std::vector<std::string> paths;
  for (const Row& row : Rows(query, {}, documents)) paths.push_back(row.path);
  return paths;
}

std::vector<Tree> EvaluateAggregations(const Query& query,
                                       const std::vector<Aggregation>& aggregations,
                                       const Documents& documents) {
  std::set<FieldPath> aggregated;
  for (const Aggregation& aggregation : aggregations) {
    if (aggregation.path) aggregated.insert(*aggregation.path);
  }
  const std::vector<Row> rows = Rows(query, aggregated, documents);
  std::vector<Tree> values;
  for (const Aggregation& aggregation : aggregations) {
    if (aggregation.kind == Aggregation::Kind::kCount) {
      values.push_back(IntegerTree(
          static_cast<int64_t>(std::min(rows.size(), aggregation.up_to.value_or(rows.size())))));
      continue;
    }
    std::vector<Tree> numbers;
    for (const Row& row : rows) {
      const Tree* value = Find(*row.document, *aggregation.path);
      if (IsNumber(*value)) numbers.push_back(*value);
    }
    values.push_back(AggregateNumbers(aggregation.kind, numbers));
  }
  return values;
}

}  // namespace hearth::queries
