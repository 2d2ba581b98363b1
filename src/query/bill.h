// What Firestore would charge for a query, whatever Hearth had to read for it.
#pragma once

#include <cstdint>

#include "query/normalize.h"
#include "query/plan.h"

namespace hearth::query {

// The rule, after https://firebase.google.com/docs/firestore/pricing (Standard edition):
//
//   1. A query costs one read for each document that it returns and for each that its offset skips.
//   2. A query with several range fields also costs one read for each 1,000 index entries, or part
//      of them. Fields of inequalities are range fields; so is `__name__` in any filter; and where
//      there is one, so are the fields that the query orders by.
//   3. A search for the nearest also costs one read for each 100 vectors that are compared.
//   4. An aggregation costs no documents, but one read for each 1,000 index entries of the results
//      it goes through.
//   5. Nothing costs less than one read.
//
// Only the entries of rule 2 depend on the plan: those that an index scan has passed over count
// too. Without the index nobody knows how many that would be, and the results alone count.
struct Bill {
  uint64_t documents = 0;
  uint64_t index_entries = 0;
  uint64_t index_entries_per_read = 1'000;
  uint64_t minimum = 0;  // Rule 5: 1 where there is nothing else.

  uint64_t ReadOperations() const {
    return documents + (index_entries + index_entries_per_read - 1) / index_entries_per_read +
           minimum;
  }

  friend bool operator==(const Bill&, const Bill&) = default;
};

enum class BilledAnswer : uint8_t { kDocuments, kAggregate };

// `statistics`: of the query's results, also where those are aggregated.
Bill BillFor(const NormalizedQuery& query, BilledAnswer answer, const Statistics& statistics);

}  // namespace hearth::query
