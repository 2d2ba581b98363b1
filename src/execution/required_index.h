#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "index/index_config.h"
#include "query/normalize.h"

namespace hearth::execution {

// FailedPrecondition, with Firestore's message and link, if Firestore would refuse the query
// because it lacks an index that only a configuration can provide: a composite index, one of a
// collection group, one of an exempt field, or one of descending names. The descendants of a
// document have no index but that of their names in ascending order, whatever the configuration
// says.
Status CheckIndexes(const query::NormalizedQuery& query, const index::IndexConfig& config);

// InvalidArgument, with Firestore's message, for queries that Firestore answers but does not
// support in listeners: over all collections, or over the descendants of a document.
Status CheckListener(const query::NormalizedQuery& query);

// The indexes that Firestore would require, one after the other, starting with an empty
// configuration, until it answers the query.
struct NeededIndexList {
  std::vector<index::Definition> definitions;
  std::vector<index::VectorIndex> vectors;
};
NeededIndexList NeededIndexes(const query::NormalizedQuery& query);

// True if the configuration allows indexes on this field, that is, the field is not exempt.
bool MayBeIndexed(const std::string& collection_id, const model::FieldPath& field,
                  const index::IndexConfig& config);

}  // namespace hearth::execution
