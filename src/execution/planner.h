#pragma once

#include <map>
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
    kNone,     // No usable index: all documents must be examined.
  };
  Kind kind = Kind::kNone;
  IndexScan scan;
  // For kSorted: the same conjunction with the order of the index.
  std::shared_ptr<const query::NormalizedQuery>
      inner_query;  // Shared by the streams of several passes.
  std::shared_ptr<const Layout> inner_layout;
};

// How a query is answered.
struct Plan {
  // One per disjunct. If empty, all documents in the query's scope are examined.
  std::vector<ConjunctionPlan> conjunctions;
  bool scans_documents = false;
  // For a nearest-neighbour search that vector indexes answer: one per disjunct, and nothing else.
  std::vector<VectorScan> vectors;
  std::vector<query::IndexUse> indexes_used;
  // Parts of indexes of map entries, to which the scans refer. Shared, so that a plan can be
  // copied.
  std::vector<std::shared_ptr<const index::Index>> map_parts;
  // The missing indexes that would make the cost proportional to the result. Canonical.
  std::vector<index::Definition> missing;
  // For those on a field of a map: the indexes that would do the same for all keys of the map.
  std::map<index::Definition, index::Definition> shared_forms;
  // Indexes that would answer with one scan what is now joined. Canonical.
  std::vector<index::Definition> alternatives_to_joins;
};

// Considers the indexes that are ready and, if none fits exactly, how much each would have to read.
// Errors: those of the source.
Result<Plan> MakePlan(const Context& context);

// The plan's documents in order, within the query's cursors, ignoring offset and limit. For a
// nearest-neighbour search, the neighbours. Borrows the plan and the contents of the context.
// `results_max`: the largest number of results that will be requested.
Result<std::unique_ptr<Stream>> OpenPlan(const Context& context, const Plan& plan,
                                         size_t results_max);

}  // namespace hearth::execution
