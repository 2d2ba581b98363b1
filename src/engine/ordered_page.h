#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/memory_budget.h"
#include "base/status.h"
#include "engine/listing.h"
#include "model/path_encoding.h"

namespace hearth::engine {

// Selects the first page, in the order of some fields, from documents that arrive in any order.
// Holds no more than one page of them at a time, whatever the size of the collection. With little
// memory the page ends early, but never without a document.
//
// Threads: one at a time. Ownership: borrows the budget.
class OrderedPage {
 public:
  // Ties, and pages without orders, are ordered by name, in the direction of the last order.
  OrderedPage(const std::vector<query::Order>& orders, size_t page_size,
              MemoryBudget* memory = nullptr);

  // Skips everything up to the end of another page, given as the parts that Finish returned.
  Status StartAfter(std::vector<std::string> parts);

  // Considers one document. A document without a value for every order is not in the result.
  void Add(request::ListedDocument document);

  // Moves out the page. Returns where it ended; empty: nothing follows.
  std::vector<std::string> Finish(std::vector<request::ListedDocument>* documents);

 private:
  struct Candidate {
    std::vector<std::string> values;  // Encoded, one per order; empty for the name.
    request::ListedDocument document;
    std::string key = model::EncodeDocumentPath(document.path);  // Sorts like the name.
  };
  struct Less {
    const OrderedPage* page;
    bool operator()(const Candidate& left, const Candidate& right) const;
  };

  // The memory that it uses.
  static size_t BytesOf(const Candidate& candidate);
  bool HasMemory();
  void DropLast();

  const std::vector<query::Order> orders_;
  const size_t page_size_;
  std::optional<Candidate> after_;
  std::set<Candidate, Less> kept_;
  size_t record_bytes_ = 0;  // Of those kept.
  size_t kept_bytes_ = 0;
  MemoryClaim claim_;
  // The first document that did not fit, without its record. Nothing after it is kept: the next
  // page starts there.
  std::optional<Candidate> first_dropped_;
};

}  // namespace hearth::engine
