#pragma once

#include <string_view>

#include "model/fields.h"
#include "model/names.h"
#include "query/normalize.h"

namespace hearth::query {

// A document, as input to a matcher. Borrowed.
struct Candidate {
  const model::DatabaseName& database;
  const model::DocumentPath& path;
  std::string_view fields;  // Stored form: MapView with Tag::kDocument.
};

// True if the value passes the filter. Range filters match only values of their operand's type.
bool PassesFilter(const FieldFilter& filter, const model::ValueView& value);

// True if the document has a value at the filter's path and the value passes. `__name__` is the
// document's reference.
bool Matches(const FieldFilter& filter, const Candidate& candidate);
bool Matches(const Conjunction& conjunction, const Candidate& candidate);

// True if the document is where the query looks, whatever its fields: parent, collection,
// descendants.
bool IsInScope(const Query& query, const model::DocumentPath& path);

// True if the document matches the query, ignoring bounds, offset and limit: it is in scope, has a
// value for each order, and passes one of the disjuncts.
bool Matches(const NormalizedQuery& query, const Candidate& candidate);

}  // namespace hearth::query
