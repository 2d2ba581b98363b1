// What Firestore would charge for a query, whatever Hearth had to read for it.
#pragma once

#include <cstdint>

#include "query/explain.h"
#include "query/normalize.h"

namespace hearth::query {

// The rule, after https://firebase.google.com/docs/firestore/pricing (Standard edition):
//
//   1. A query costs one read per document that it returns or that its offset skips.
//   2. A query with several range fields also costs one read per 1,000 index entries, rounded up.
//      Range fields are those with an inequality, `__name__` in any filter, and, if there is one of
//      these, the fields that the query orders by.
//   3. A nearest-neighbour search also costs one read per 100 vectors compared, rounded up.
//   4. An aggregation costs no documents, but one read per 1,000 index entries, rounded up. The
//      number of results that it aggregates is used as the number of entries.
//   5. Every request costs at least one read.
//
// Only rule 2 depends on the plan: entries that an index scan skipped count too. Without the index
// their number is unknown, and only the results count.
struct Bill {
  uint64_t documents = 0;
  uint64_t index_entries = 0;
  uint64_t index_entries_per_read = 1'000;
  uint64_t minimum = 0;  // Rule 5: 1 if nothing else is charged.

  uint64_t ReadOperations() const {
    return documents + (index_entries + index_entries_per_read - 1) / index_entries_per_read +
           minimum;
  }

  friend bool operator==(const Bill&, const Bill&) = default;
};

enum class BilledAnswer : uint8_t { kDocuments, kAggregate };

// `statistics` are those of the query's results, even if the results are aggregated.
Bill BillFor(const NormalizedQuery& query, BilledAnswer answer, const Statistics& statistics);

}  // namespace hearth::query
