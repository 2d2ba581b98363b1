#pragma once

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "execution/sort_key.h"
#include "model/record.h"

namespace hearth::execution {

// A document on its way through a plan.
struct Item {
  SortKey key;
  model::Record record;  // Null until somebody needs it.
  // A bit for each component of the sort key: the number there is a double. Only of items from
  // indexes, where `record` is null.
  uint32_t doubles = 0;
  // The sort key is not that of an index entry: it may be longer, and `doubles` says nothing.
  bool was_cut = false;
  std::optional<double> distance = {};  // Of nearest neighbours.
  // The document has been read and counted, though `record` may be null again.
  bool was_read = false;
};

// Documents in the order of their sort keys, each once.
//
// Threads: one at a time. Errors: those of the source.
class Stream {
 public:
  virtual ~Stream() = default;

  // Fills `item` with the next one. False: there are no more, and `item` is as good as empty.
  virtual Result<bool> Next(Item* item) = 0;
};

}  // namespace hearth::execution
