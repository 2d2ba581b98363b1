#pragma once

#include <map>
#include <vector>

#include "index/definition.h"
#include "query/normalize.h"
#include "query/sort_key.h"

namespace hearth::query {

// A conjunction, sorted by what its filters mean to an index. Borrows the filters.
struct ConjunctionShape {
  explicit ConjunctionShape(const Conjunction& conjunction);

  Constants constants;                      // Of equalities, `__name__` aside.
  const FieldFilter* contains = nullptr;    // Of kArrayContains.
  const FieldFilter* name_equal = nullptr;  // Of an equality on `__name__`.
  std::map<model::FieldPath, std::vector<const FieldFilter*>> inequalities;
  std::vector<const FieldFilter*> name_inequalities;
  bool is_contradiction = false;  // No document can pass.
};

// The layout's fields that differ between the documents of the conjunction.
std::vector<Order> SuffixOf(const Layout& layout, const ConjunctionShape& shape);

// The index that answers the conjunction with one scan. Canonical.
index::Definition DirectIndex(const Query& query, const Layout& layout,
                              const ConjunctionShape& shape);

// The indexes that answer it directly: one, or for several equalities without an order one for
// each of them, to be joined. Canonical.
std::vector<index::Definition> IdealIndexes(const Query& query, const Layout& layout,
                                            const ConjunctionShape& shape);

}  // namespace hearth::query
