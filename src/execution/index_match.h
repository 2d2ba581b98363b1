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

// Fields that are fixed by an equality, or by what their array has to contain: one field may be
// both. Of an equality the mode is kAscending.
using FixedFields = std::set<index::IndexField>;

// An index whose entries, after some of a conjunction's fixed fields, have just the suffix that the
// query's order wants.
struct IndexMatch {
  bool inverted;                        // All directions of the suffix are the opposite ones.
  FixedFields covered;                  // The fixed fields that it has.
  const index::Index* index = nullptr;  // For the caller.
};

// nullopt unless the index's fields are fixed ones and then exactly the suffix.
std::optional<IndexMatch> MatchIndex(const index::Definition& definition, const Layout& layout,
                                     const ConjunctionShape& shape,
                                     const std::vector<query::Order>& suffix);

// The fields that have one value in all documents of the conjunction, or in their arrays.
bool IsFixed(const index::IndexField& field, const ConjunctionShape& shape);
FixedFields FixedFieldsOf(const ConjunctionShape& shape);

// The keys' beginning: the index, the collection, and the values of its first `fixed` fields, which
// are fixed.
std::string FixedPrefix(const index::Index& index, size_t fixed, const Layout& layout,
                        const ConjunctionShape& shape);

// Chooses as few as possible that cover together what is in `uncovered`, and takes that out of it.
std::vector<const IndexMatch*> ChooseCover(const std::vector<IndexMatch>& matches,
                                           FixedFields* uncovered);

}  // namespace hearth::execution
