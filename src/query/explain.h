// How a query is answered, and what that has cost.
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

// What a query has read so far. Query Explain shows it, and query/bill.h makes a bill of it.
struct Statistics {
  uint64_t results_returned = 0;
  uint64_t index_entries_scanned = 0;
  uint64_t documents_scanned = 0;  // Records read and looked at, whether they matched or not.
  uint64_t results_skipped = 0;    // By the query's offset.
  uint64_t vectors_compared = 0;   // Of a search for the nearest: in entries or in documents.
};

}  // namespace hearth::query
