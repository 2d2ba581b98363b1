// Streams that read documents without an index.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>

#include "base/memory_budget.h"
#include "base/pause.h"
#include "execution/sort_key.h"
#include "execution/source.h"
#include "execution/stream.h"
#include "execution/tally.h"
#include "query/matcher.h"

namespace hearth::execution {

// Everything that the streams of one query share. Borrowed by them.
struct Context {
  const Source& source;
  const query::NormalizedQuery& query;
  const Layout& layout;
  Tally* tally;
  // Records are not needed: an index with the names is better than the documents.
  bool keys_only = false;
  size_t documents_max = std::numeric_limits<size_t>::max();
  const PauseFunction* pause = nullptr;
  MemoryBudget* memory = nullptr;

  // The same for an inner query of this one over the same source.
  Context For(const query::NormalizedQuery& inner_query, const Layout& inner_layout) const {
    return {source, inner_query, inner_layout, tally, keys_only, documents_max, pause, memory};
  }
  // The same with another tally.
  Context CountedBy(Tally* other) const {
    return {source, query, layout, other, keys_only, documents_max, pause, memory};
  }

  // Lets others have their turn from time to time. Call this for each item that is read, with its
  // size. An error ends the query.
  Status Pause(size_t bytes = 0) const {
    return tally->IsTimeToPause(bytes) && pause && *pause ? (*pause)() : Status();
  }
};

// The query's documents, found by examining all documents of its collection, in the order of their
// names. For layouts without fields that is also the order of sort keys. Null if the source cannot
// be read backwards.
std::unique_ptr<Stream> NewCollectionScan(const Context& context, storage::Direction direction);

// The same for collection groups and for all documents below the parent. Forward only.
std::unique_ptr<Stream> NewSubtreeScan(const Context& context);

// The document that a conjunction selects by an equality on `__name__`, if it is a result.
std::unique_ptr<Stream> NewLookup(const Context& context, const query::Conjunction& conjunction,
                                  const query::FieldFilter& name_filter);

}  // namespace hearth::execution
