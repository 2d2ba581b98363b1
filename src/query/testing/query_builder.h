// For tests: short ways to write queries.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "model/value.h"
#include "query/normalize.h"

namespace hearth::query {

// A query on a collection at the root of projects/p1/databases/(default).
class QueryBuilder {
 public:
  explicit QueryBuilder(const std::string& collection_id)
      : query_{*model::ParentName::Parse("projects/p1/databases/(default)/documents"),
               collection_id} {}

  // On all collections with that id.
  QueryBuilder& Group() {
    query_.all_descendants = true;
    return *this;
  }
  QueryBuilder& Where(const std::string& field, Operator op, std::string value) {
    filters_.push_back({FieldFilter{*model::FieldPath::Parse(field), op, std::move(value)}});
    return *this;
  }
  QueryBuilder& Equal(const std::string& field, int64_t value = 1) {
    return Where(field, Operator::kEqual, model::EncodeInteger(value));
  }
  QueryBuilder& Above(const std::string& field, int64_t value = 1) {
    return Where(field, Operator::kGreater, model::EncodeInteger(value));
  }
  QueryBuilder& Contains(const std::string& field, int64_t value = 1) {
    return Where(field, Operator::kArrayContains, model::EncodeInteger(value));
  }
  QueryBuilder& In(const std::string& field, const std::vector<int64_t>& values) {
    std::vector<std::string> encoded;
    for (const int64_t value : values) encoded.push_back(model::EncodeInteger(value));
    return Where(field, Operator::kIn, model::EncodeArray(encoded));
  }
  QueryBuilder& Ascending(const std::string& field) {
    query_.orders.push_back({*model::FieldPath::Parse(field), SortDirection::kAscending});
    return *this;
  }
  QueryBuilder& Descending(const std::string& field) {
    query_.orders.push_back({*model::FieldPath::Parse(field), SortDirection::kDescending});
    return *this;
  }
  QueryBuilder& Limit(size_t limit) {
    query_.limit = limit;
    return *this;
  }
  QueryBuilder& Offset(size_t offset) {
    query_.offset = offset;
    return *this;
  }
  // Below that document instead of at the root.
  QueryBuilder& Below(const std::string& document_path) {
    query_.parent.document_path = document_path;
    return *this;
  }
  // Encoded values, for a prefix of the orders.
  QueryBuilder& Start(std::vector<std::string> values, bool before) {
    query_.start = Bound{std::move(values), before};
    return *this;
  }
  QueryBuilder& End(std::vector<std::string> values, bool before) {
    query_.end = Bound{std::move(values), before};
    return *this;
  }
  // One of `others` must hold, that is, all of its filters.
  QueryBuilder& AnyOf(const std::vector<QueryBuilder>& others) {
    CompositeFilter any{CompositeFilter::Operator::kOr, {}};
    for (const QueryBuilder& other : others) {
      // Copied: GCC 12 reports a moved one as uninitialized.
      const Filter all{CompositeFilter{CompositeFilter::Operator::kAnd, other.filters_}};
      any.filters.push_back(all);
    }
    const Filter filter{std::move(any)};
    filters_.push_back(filter);
    return *this;
  }
  QueryBuilder& Nearest(const std::string& field, std::vector<double> vector) {
    query_.nearest = FindNearest{*model::FieldPath::Parse(field), std::move(vector),
                                 DistanceMeasure::kEuclidean, 10};
    return *this;
  }

  NormalizedQuery Build() const {
    Query query = query_;
    if (!filters_.empty()) {
      query.where = Filter{CompositeFilter{CompositeFilter::Operator::kAnd, filters_}};
    }
    Result<NormalizedQuery> normalized = Normalize(std::move(query));
    CHECK(normalized.ok());
    return *std::move(normalized);
  }

 private:
  Query query_;
  std::vector<Filter> filters_;
};

}  // namespace hearth::query
