#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "index/index_config.h"
#include "query/normalize.h"

namespace hearth::query {

// FailedPrecondition, in Firestore's words and with its link, when Firestore would refuse the query
// because an index is missing that only a configuration can give: a composite one, one of a
// collection group, or one of a field that is exempt.
Status CheckIndexes(const NormalizedQuery& query, const index::IndexConfig& config);

// The indexes that Firestore would ask an empty configuration for, one after the other, until it
// answers the query.
struct NeededIndexList {
  std::vector<index::Definition> definitions;
  std::vector<index::VectorIndex> vectors;
};
NeededIndexList NeededIndexes(const NormalizedQuery& query);

// True when the configuration lets an index have this field: it is not exempt.
bool MayBeIndexed(const std::string& collection_id, const model::FieldPath& field,
                  const index::IndexConfig& config);

}  // namespace hearth::query
