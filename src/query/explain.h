// How a query is answered, and what it has cost so far.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::query {

// One index that a plan reads, as Firestore describes it to clients.
struct IndexUse {
  std::string query_scope;  // "Collection", "Collection group" or "Includes ancestors".
  std::string properties;   // "(foo ASC, __name__ ASC)"
  friend bool operator==(const IndexUse&, const IndexUse&) = default;
};

// What a query has read so far. Query Explain shows it, and query/bill.h computes the bill from it.
struct Statistics {
  uint64_t results_returned = 0;
  uint64_t index_entries_scanned = 0;
  uint64_t documents_scanned = 0;  // Records read and examined, whether they matched or not.
  uint64_t results_skipped = 0;    // Skipped by the query's offset.
  uint64_t vectors_compared = 0;   // By a nearest-neighbour search: in entries or in documents.
};

}  // namespace hearth::query
