// What a query's functions are given, made into the parts of a query.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "client/filter.h"
#include "client/snapshot.h"
#include "client/value.h"
#include "model/field_path.h"
#include "query/query.h"

namespace hearth::client {

// Makes filters for one query: names in them are relative to its collection.
//
// Threads: one at a time. Ownership: borrows the query. Errors: InvalidArgument in the official
// SDKs' words. Recursion is as deep as the filter.
class FilterReader {
 public:
  explicit FilterReader(const query::Query& query) : query_(query) {}

  // nullopt for one that joins nothing.
  Result<std::optional<query::Filter>> Read(const Filter& filter) const;

 private:
  Result<query::Filter> ReadComparison(const Filter::Comparison& comparison) const;
  Result<std::string> ReadOperand(const model::FieldPath& path, Op op, const Value& value) const;
  Result<std::string> ReadNameOperand(Op op, const Value& value) const;

  const query::Query& query_;
};

// The encoded reference that an id, a path relative to the query's collection or parent, or a
// reference stands for. InvalidArgument for what cannot be among the query's results.
Result<std::string> ReadNameValue(const query::Query& query, const Value& value);

// The query's orders with those that it implies: the fields of inequalities, then the name.
std::vector<query::Order> OrdersWithImplicit(const query::Query& query);

// Encoded values for a prefix of `orders`.
Result<std::vector<std::string>> CursorValues(const query::Query& query,
                                              const std::vector<query::Order>& orders,
                                              const std::vector<Value>& values);
// The document's values for all `orders`.
Result<std::vector<std::string>> CursorValues(const query::Query& query,
                                              const std::vector<query::Order>& orders,
                                              const DocumentSnapshot& document);

// The query that finds the last results first.
query::Query Reversed(query::Query query);

}  // namespace hearth::client
