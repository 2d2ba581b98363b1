#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "base/memory_budget.h"
#include "execution/sort_key.h"
#include "execution/stream.h"

namespace hearth::execution {

// The memory that a sort uses at a time.
inline constexpr size_t kSortBytesMax = 32 * 1024 * 1024;

// Makes a new stream from the beginning; its documents are read (Item::was_read).
enum class Pass : uint8_t { kFirst, kAnother };
using StreamFactory = std::function<std::unique_ptr<Stream>(Pass)>;

struct SortLimits {
  size_t results_max;  // The largest number of results needed.
  size_t bytes_max = kSortBytesMax;
  MemoryBudget* memory = nullptr;  // Null: unlimited.
};

// Returns documents in the order of their sort keys. Keys that do not fit into the memory are left
// for another pass over the input: memory is bounded, and only results beyond it cost more passes.
// Records are dropped, because most would not be needed.
std::unique_ptr<Stream> NewSorter(StreamFactory input, const Layout& layout, SortLimits limits);

}  // namespace hearth::execution
