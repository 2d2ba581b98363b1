#pragma once

#include <cstddef>
#include <string_view>

#include "base/status.h"

namespace hearth::index {

// InvalidArgument, with line and column, unless `text` is one JSON value, with or without comments,
// in which no object has duplicate keys and arrays and objects nest at most `depth_max` deep. A
// parser that keeps only the last of two equal keys would silently drop part of the file.
Status CheckJson(std::string_view text, size_t depth_max);

}  // namespace hearth::index
