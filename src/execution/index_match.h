#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "execution/conjunction_shape.h"
#include "index/definition.h"
#include "index/index_set.h"

namespace hearth::execution {

// Fields that are fixed by an equality, or by an element that their array must contain. A field may
// be both. For an equality the mode is kAscending.
using FixedFields = std::set<index::IndexField>;

// An index whose entries consist of some of a conjunction's fixed fields, followed by exactly the
// suffix that the query's order requires.
struct IndexMatch {
  bool inverted;                        // All directions of the suffix are reversed.
  FixedFields covered;                  // The fixed fields in this index.
  const index::Index* index = nullptr;  // Set by the caller.
};

// nullopt unless the index's fields are fixed ones followed by exactly the suffix.
std::optional<IndexMatch> MatchIndex(const index::Definition& definition, const Layout& layout,
                                     const ConjunctionShape& shape,
                                     const std::vector<query::Order>& suffix);

// A field is fixed if it, or an element of its array, has the same value in all documents of the
// conjunction.
bool IsFixed(const index::IndexField& field, const ConjunctionShape& shape);
FixedFields FixedFieldsOf(const ConjunctionShape& shape);

// The key prefix: the index, the collection, and the values of its first `fixed` fields, which are
// fixed. Of an index with a map key, the key's position must not be beyond these fields.
std::string FixedPrefix(const index::Index& index, size_t fixed, const Layout& layout,
                        const ConjunctionShape& shape);

// The parts of an index of map entries that serve fields of the conjunction: one for each key.
std::vector<index::Index> PartsOfMapIndex(const index::Index& index, const Layout& layout,
                                          const ConjunctionShape& shape);

// Chooses as few matches as possible that together cover the fields in `uncovered`, and removes
// these fields from it.
std::vector<const IndexMatch*> ChooseCover(const std::vector<IndexMatch>& matches,
                                           FixedFields* uncovered);

}  // namespace hearth::execution
