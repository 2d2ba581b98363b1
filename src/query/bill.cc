#include "query/bill.h"

#include <algorithm>
#include <set>

namespace hearth::query {
namespace {

bool HasSeveralRangeFields(const NormalizedQuery& query) {
  std::set<model::FieldPath> fields;
  for (const Conjunction& conjunction : query.disjuncts) {
    for (const FieldFilter& filter : conjunction.filters) {
      if (filter.path.IsName() || IsInequality(filter.op)) fields.insert(filter.path);
    }
  }
  if (fields.empty()) return false;
  for (const Order& order : query.query.orders) {
    // Every query ends with an order by name, so it does not count.
    if (!order.path.IsName()) fields.insert(order.path);
  }
  return fields.size() > 1;
}

}  // namespace

Bill BillFor(const NormalizedQuery& query, BilledAnswer answer, const Statistics& statistics) {
  constexpr uint64_t kVectorsPerRead = 100;
  const uint64_t results = statistics.results_returned + statistics.results_skipped;
  Bill bill;
  if (answer == BilledAnswer::kDocuments) bill.documents = results;
  if (query.query.nearest) {
    bill.index_entries = statistics.vectors_compared;
    bill.index_entries_per_read = kVectorsPerRead;
  } else if (HasSeveralRangeFields(query)) {
    bill.index_entries = std::max(statistics.index_entries_scanned, results);
  } else if (answer == BilledAnswer::kAggregate) {
    bill.index_entries = results;
  }
  if (bill.documents + bill.index_entries == 0) bill.minimum = 1;
  return bill;
}

}  // namespace hearth::query
