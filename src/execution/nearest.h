// Finds the nearest neighbours of a vector among the documents of a query.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "execution/document_streams.h"
#include "execution/stream.h"
#include "index/index_set.h"

namespace hearth::execution {

// How one conjunction of a search is answered: from the entries of a vector index that has all of
// its equalities, and no other fields.
struct VectorScan {
  const index::Index* index;
  const query::Conjunction* conjunction;  // Of the query.
  std::string fixed;                      // Key prefix: number, collection, values.
  std::string prefix;                     // The same, plus the prefix of the names.
  std::string constants;                  // The sort keys' components before the name.
};

struct VectorPlan {
  // One per conjunction; empty if documents must be examined.
  std::vector<VectorScan> scans;
  // The missing vector indexes that would allow scans. Canonical.
  std::vector<index::Definition> missing;
};

// For a nearest-neighbour query.
VectorPlan PlanVectorScans(const Context& context);

// The nearest neighbours, nearest first, with their distances and without their records. Equal
// distances keep the order of the query. Borrows the scans.
std::unique_ptr<Stream> NewNearestOfIndexes(const Context& context,
                                            const std::vector<VectorScan>& scans);
// The same, by comparing the vectors of all of `documents`.
std::unique_ptr<Stream> NewNearestOfDocuments(const Context& context,
                                              std::unique_ptr<Stream> documents);

}  // namespace hearth::execution
