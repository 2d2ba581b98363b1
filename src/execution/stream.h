#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "execution/sort_key.h"
#include "model/record.h"

namespace hearth::execution {

// A document that passes through a plan.
struct Item {
  SortKey key;
  model::Record record;  // Null until it is needed.
  // One bit per component of the sort key: set if the number is a double. Only for items from
  // indexes, where `record` is null.
  uint32_t doubles = 0;
  // The sort key is not that of an index entry: it may be longer, and `doubles` is meaningless.
  bool was_cut = false;
  std::optional<double> distance = {};  // For nearest neighbours.
  // The document has been read and counted, though `record` may be null again.
  bool was_read = false;
};

// Documents in the order of their sort keys, without duplicates.
//
// Threads: one at a time. Errors: those of the source.
class Stream {
 public:
  virtual ~Stream() = default;

  // Fills `item` with the next document. Returns false at the end, and the contents of `item` are
  // then unspecified.
  virtual Result<bool> Next(Item* item) = 0;
};

}  // namespace hearth::execution
