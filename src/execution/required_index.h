#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "index/index_config.h"
#include "query/normalize.h"

namespace hearth::execution {

// FailedPrecondition, in Firestore's words and with its link, when Firestore would refuse the query
// because an index is missing that only a configuration can give: a composite one, one of a
// collection group, one of a field that is exempt, or one of names that descend. The descendants of
// a document have no index but that of their names, which ascend, whatever the configuration says.
Status CheckIndexes(const query::NormalizedQuery& query, const index::IndexConfig& config);

// InvalidArgument, in Firestore's words, for what Firestore answers but does not listen to: all
// collections, and the descendants of a document.
Status CheckListener(const query::NormalizedQuery& query);

// The indexes that Firestore would ask an empty configuration for, one after the other, until it
// answers the query.
struct NeededIndexList {
  std::vector<index::Definition> definitions;
  std::vector<index::VectorIndex> vectors;
};
NeededIndexList NeededIndexes(const query::NormalizedQuery& query);

// True when the configuration lets an index have this field: it is not exempt.
bool MayBeIndexed(const std::string& collection_id, const model::FieldPath& field,
                  const index::IndexConfig& config);

}  // namespace hearth::execution
