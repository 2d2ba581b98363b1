#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "execution/document_streams.h"
#include "execution/index_stream.h"
#include "execution/nearest.h"
#include "execution/stream.h"
#include "index/definition.h"
#include "query/explain.h"

namespace hearth::execution {

// How one conjunction is answered.
struct ConjunctionPlan {
  enum class Kind : uint8_t {
    kNothing,  // No document can pass.
    kLookup,   // By name.
    kScan,     // From indexes, in the order of the results.
    kSorted,   // From indexes, in another order.
    kNone,     // No index is of use: all documents must be looked at.
  };
  Kind kind = Kind::kNone;
  IndexScan scan;
  // Of kSorted: the same conjunction with the order that the index has.
  std::shared_ptr<const query::NormalizedQuery>
      inner_query;  // Shared by the streams of several passes.
  std::shared_ptr<const Layout> inner_layout;
};

// How a query is answered.
struct Plan {
  // One for each disjunct, or none: then all documents of the query's scope are looked at.
  std::vector<ConjunctionPlan> conjunctions;
  bool scans_documents = false;
  // Of a search for the nearest that vector indexes answer: one for each disjunct, and nothing
  // else.
  std::vector<VectorScan> vectors;
  std::vector<query::IndexUse> indexes_used;
  // The indexes that are missing for cost to follow the result. Canonical.
  std::vector<index::Definition> missing;
  // Those that would answer with one scan what is now joined. Canonical.
  std::vector<index::Definition> alternatives_to_joins;
};

// Looks at the indexes that are ready and, where none is just right, at how much they would have to
// read. Errors: those of the source.
Result<Plan> MakePlan(const Context& context);

// The plan's documents in order, within the query's cursors; offset and limit are left aside. Of a
// search for the nearest, the neighbours.
// Borrows the plan and what the context has. `results_max`: how many will be asked for at most.
Result<std::unique_ptr<Stream>> OpenPlan(const Context& context, const Plan& plan,
                                         size_t results_max);

}  // namespace hearth::execution
