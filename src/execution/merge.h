#pragma once

#include <memory>
#include <vector>

#include "execution/stream.h"

namespace hearth::execution {

// The documents of all inputs in order, without duplicates. Drops records that are larger than
// this: the next document of each input may wait for long. Most would not be needed.
inline constexpr size_t kMergedRecordBytesMax = 4 * 1024;
std::unique_ptr<Stream> NewMerge(std::vector<std::unique_ptr<Stream>> inputs, const Layout& layout);

// The documents of the input whose sort keys are in the range.
std::unique_ptr<Stream> NewRangeFilter(std::unique_ptr<Stream> input, Range range);

// Returns the given items, which must be in order.
std::unique_ptr<Stream> NewListStream(std::vector<Item> items);

}  // namespace hearth::execution
