#pragma once

#include <string_view>

#include "model/fields.h"
#include "model/names.h"
#include "query/normalize.h"

namespace hearth::query {

// A document as matchers see it. Borrowed.
struct Candidate {
  const model::DatabaseName& database;
  const model::DocumentPath& path;
  std::string_view fields;  // Stored form: MapView with Tag::kDocument.
};

// True when the value passes the filter. Range filters stay within the type of their value.
bool PassesFilter(const FieldFilter& filter, const model::ValueView& value);

// True when the document has a value for the filter's path and it passes; `__name__` is the
// document's reference.
bool Matches(const FieldFilter& filter, const Candidate& candidate);
bool Matches(const Conjunction& conjunction, const Candidate& candidate);

// True when the document lies where the query looks, whatever its fields: parent, collection,
// descendants.
bool IsInScope(const Query& query, const model::DocumentPath& path);

// True when the document is among the query's results, leaving bounds, offset and limit aside: it
// is in scope, has a value for each order, and passes one of the disjuncts.
bool Matches(const NormalizedQuery& query, const Candidate& candidate);

}  // namespace hearth::query
