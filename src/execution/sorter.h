#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "execution/sort_key.h"
#include "execution/stream.h"

namespace hearth::execution {

// What a sort holds in memory at a time.
inline constexpr size_t kSortBytesMax = 32 * 1024 * 1024;

// Makes a stream from its beginning, whose documents are read (Item::was_read).
enum class Pass : uint8_t { kFirst, kAnother };
using StreamFactory = std::function<std::unique_ptr<Stream>(Pass)>;

// Puts documents in the order of their sort keys. What does not fit into `bytes_max` is left for
// another pass over the input: memory is bounded, and only results beyond it cost more passes.
// Without records: most would be dropped. `results_max`: how many are wanted at most.
std::unique_ptr<Stream> NewSorter(StreamFactory input, const Layout& layout, size_t results_max,
                                  size_t bytes_max = kSortBytesMax);

}  // namespace hearth::execution
