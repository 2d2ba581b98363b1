#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "model/names.h"
#include "query/explain.h"

namespace hearth::execution {

// Counts what a query reads: every document and every index entry once, however often the plan
// comes back to it.
//
// Most plans meet each thing once and need no memory for that. Where several streams are merged,
// what they read is remembered, up to kRememberedMax; of what lies beyond, a thing that two of them
// read counts twice.
//
// Threads: one at a time.
class Tally {
 public:
  static constexpr size_t kRememberedMax = 100'000;

  const query::Statistics& statistics() const { return statistics_; }

  // From now on documents, or index entries, may be read again.
  void ExpectDocumentsAgain() { documents_.is_used = true; }
  void ExpectEntriesAgain() { entries_.is_used = true; }

  // A document that is read to see whether it is a result.
  void AddDocument(const model::DocumentPath& path);
  // A document that is read because it is a result.
  void AddResultDocument(const model::DocumentPath& path);
  // False if the entry was counted before.
  bool AddEntry(std::string_view key);
  void AddVector() { ++statistics_.vectors_compared; }
  void AddSkipped() { ++statistics_.results_skipped; }
  void AddReturned() { ++statistics_.results_returned; }

  // True every now and then: a step of a plan calls it for each thing that it reads.
  bool IsTimeToPause();

 private:
  // Hashes stand for what is remembered.
  struct Memory {
    bool is_used = false;
    std::unordered_set<size_t> hashes = {};

    // True if it is new; then it is remembered as long as there is room.
    bool Add(std::string_view name);
    bool Contains(std::string_view name) const;
  };

  query::Statistics statistics_;
  Memory documents_;
  Memory entries_;
  uint64_t steps_ = 0;
};

}  // namespace hearth::execution
