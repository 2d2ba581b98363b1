// A query as a client states it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/distance_measure.h"
#include "model/field_path.h"
#include "model/names.h"

namespace hearth::query {

enum class Operator : uint8_t {
  kLess,
  kLessOrEqual,
  kEqual,
  kNotEqual,
  kGreaterOrEqual,
  kGreater,
  kArrayContains,
  kArrayContainsAny,
  kIn,
  kNotIn,
  kIsNull,
  kIsNan,
  kIsNotNull,
  kIsNotNan,
};

// True for an inequality in Firestore's sense: results are sorted by its field.
constexpr bool IsInequality(Operator op) {
  switch (op) {
    case Operator::kLess:
    case Operator::kLessOrEqual:
    case Operator::kNotEqual:
    case Operator::kGreaterOrEqual:
    case Operator::kGreater:
    case Operator::kNotIn:
    case Operator::kIsNotNull:
    case Operator::kIsNotNan:
      return true;
    default:
      return false;
  }
}

// One comparison. `value` is encoded and canonical (model/value.h): an array for kIn, kNotIn and
// kArrayContainsAny, empty for kIsNull … kIsNotNan.
struct FieldFilter {
  model::FieldPath path;
  Operator op;
  std::string value;
};

struct Filter;
struct CompositeFilter {
  enum class Operator : uint8_t { kAnd, kOr };
  Operator op;
  std::vector<Filter> filters;
};
struct Filter {
  std::variant<FieldFilter, CompositeFilter> filter;
};

enum class SortDirection : uint8_t { kAscending, kDescending };

struct Order {
  model::FieldPath path;
  SortDirection direction;
  friend bool operator==(const Order&, const Order&) = default;
};

// A position in the result order: encoded values for a prefix of the orders.
struct Bound {
  std::vector<std::string> values;
  bool before;  // Just before the documents with these values; else just after them.
};

using model::DistanceMeasure;

struct FindNearest {
  model::FieldPath vector_field;
  std::vector<double> query_vector;
  DistanceMeasure measure;
  size_t limit;
  std::optional<model::FieldPath> distance_result_field = {};
  std::optional<double> distance_threshold = {};
};

struct Query {
  model::ParentName parent;
  std::string collection_id;     // Empty: documents of all collections.
  bool all_descendants = false;  // At any depth below the parent; else directly below it.
  std::optional<Filter> where = {};
  std::vector<Order> orders = {};
  std::optional<Bound> start = {};
  std::optional<Bound> end = {};
  size_t offset = 0;
  std::optional<size_t> limit = {};
  std::optional<std::vector<model::FieldPath>> select = {};  // Absent: all fields.
  std::optional<FindNearest> nearest = {};
};

// Descendants of a document have no index of their own; they are sorted by name only.
inline bool IsBelowDocument(const Query& query) {
  return query.all_descendants && !query.parent.document_path.empty();
}

struct Aggregation {
  enum class Kind : uint8_t { kCount, kSum, kAverage };
  Kind kind;
  std::string alias;                          // Unique within a request.
  std::optional<model::FieldPath> path = {};  // For kSum and kAverage.
  std::optional<size_t> up_to = {};           // For kCount.
};

}  // namespace hearth::query
