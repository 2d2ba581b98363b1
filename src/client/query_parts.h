// Turns the arguments of a query's functions into the parts of a query.
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

// Builds filters for one query: names in them are relative to its collection.
//
// Threads: one at a time. Ownership: borrows the query. Errors: InvalidArgument, with the official
// SDKs' messages. Recursion depth is that of the filter.
class FilterReader {
 public:
  explicit FilterReader(const query::Query& query) : query_(query) {}

  // nullopt for an empty composite filter.
  Result<std::optional<query::Filter>> Read(const Filter& filter) const;

 private:
  Result<query::Filter> ReadComparison(const Filter::Comparison& comparison) const;
  Result<std::string> ReadOperand(const model::FieldPath& path, Op op, const Value& value) const;
  Result<std::string> ReadNameOperand(Op op, const Value& value) const;

  const query::Query& query_;
};

// The encoded reference for an id, a path relative to the query's collection or parent, or a
// reference. InvalidArgument if it cannot be a result of the query.
Result<std::string> ReadNameValue(const query::Query& query, const Value& value);

// The query's orders plus the implicit ones: the fields of inequalities, then the name.
std::vector<query::Order> OrdersWithImplicit(const query::Query& query);

// Encoded values for a prefix of `orders`.
Result<std::vector<std::string>> CursorValues(const query::Query& query,
                                              const std::vector<query::Order>& orders,
                                              const std::vector<Value>& values);
// The document's values for all `orders`.
Result<std::vector<std::string>> CursorValues(const query::Query& query,
                                              const std::vector<query::Order>& orders,
                                              const DocumentSnapshot& document);

// The query with its orders reversed, which returns the last results first.
query::Query Reversed(query::Query query);

}  // namespace hearth::client
