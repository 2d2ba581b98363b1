#pragma once

#include <map>
#include <vector>

#include "execution/sort_key.h"
#include "index/definition.h"
#include "query/normalize.h"

namespace hearth::execution {

// A conjunction's filters, grouped by how an index can use them. Borrows the filters.
struct ConjunctionShape {
  explicit ConjunctionShape(const query::Conjunction& conjunction);

  Constants constants;                             // From equalities, except on `__name__`.
  const query::FieldFilter* contains = nullptr;    // The kArrayContains filter.
  const query::FieldFilter* name_equal = nullptr;  // The equality on `__name__`.
  std::map<model::FieldPath, std::vector<const query::FieldFilter*>> inequalities;
  std::vector<const query::FieldFilter*> name_inequalities;
  bool is_contradiction = false;  // No document can pass.
};

// The layout's fields whose values differ between the documents of the conjunction.
std::vector<query::Order> SuffixOf(const Layout& layout, const ConjunctionShape& shape);

// The index that answers the conjunction with one scan. Canonical.
index::Definition DirectIndex(const query::Query& query, const Layout& layout,
                              const ConjunctionShape& shape);

// The indexes that answer it directly: one index or, for several equalities without an order, one
// index per equality, to be joined. Canonical.
std::vector<index::Definition> IdealIndexes(const query::Query& query, const Layout& layout,
                                            const ConjunctionShape& shape);

}  // namespace hearth::execution
