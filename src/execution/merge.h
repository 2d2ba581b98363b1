#pragma once

#include <memory>
#include <vector>

#include "execution/stream.h"

namespace hearth::execution {

// All documents of the inputs in order, each once, however many of them have it.
std::unique_ptr<Stream> NewMerge(std::vector<std::unique_ptr<Stream>> inputs, const Layout& layout);

// Those of the input whose sort keys are in the range.
std::unique_ptr<Stream> NewRangeFilter(std::unique_ptr<Stream> input, Range range);

// Items that are there already, in order.
std::unique_ptr<Stream> NewListStream(std::vector<Item> items);

}  // namespace hearth::execution
