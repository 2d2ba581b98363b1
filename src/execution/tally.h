#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "base/memory_budget.h"
#include "model/names.h"
#include "query/explain.h"

namespace hearth::execution {

// Counts what a query reads: every document and every index entry once, however often the plan
// returns to it.
//
// Most plans read each item once and need no memory for that. If several streams are merged, the
// items they read are remembered, up to kRememberedMax and as long as there is memory. Beyond that,
// an item that two streams read counts twice.
//
// Threads: one at a time. Ownership: borrows the budget.
class Tally {
 public:
  static constexpr size_t kRememberedMax = 100'000;

  // Null: unlimited.
  explicit Tally(MemoryBudget* memory = nullptr) : documents_{memory}, entries_{memory} {}

  const query::Statistics& statistics() const { return statistics_; }

  // From now on documents, or index entries, may be read more than once.
  void ExpectDocumentsAgain() { documents_.is_used = true; }
  void ExpectEntriesAgain() { entries_.is_used = true; }

  // A document that is read to check whether it is a result.
  void AddDocument(const model::DocumentPath& path);
  // A document that is read because it is a result.
  void AddResultDocument(const model::DocumentPath& path);
  // Returns false if the entry was counted before.
  bool AddEntry(std::string_view key);
  void AddVector() { ++statistics_.vectors_compared; }
  void AddSkipped() { ++statistics_.results_skipped; }
  void AddReturned() { ++statistics_.results_returned; }

  // True from time to time. A plan step calls this for each item that it reads, with its size.
  bool IsTimeToPause(size_t bytes);

 private:
  // Stores hashes instead of the items.
  struct Memory {
    // What the set needs for each: a node, with the allocator's overhead, and a bucket.
    static constexpr size_t kBytesPerHash = 40;

    explicit Memory(MemoryBudget* memory) : claim(memory) {}

    MemoryClaim claim;
    bool is_used = false;
    std::unordered_set<size_t> hashes = {};

    // True if it is new; it is then remembered as long as there is room.
    bool Add(std::string_view name);
    bool Contains(std::string_view name) const;
  };

  query::Statistics statistics_;
  Memory documents_;
  Memory entries_;
  size_t steps_ = 0;  // Since the last pause.
};

}  // namespace hearth::execution
