#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "index/index_set.h"

namespace hearth::index {

// The stored information about what an index costs and earns, under its number. Times are in
// microseconds.
//
//   use := created (8), uses (8), reads saved (8), reads without (8), document writes (8),
//          entries written (8), score (8), scored at (8)
//
// Numbers are big-endian.
std::string EncodeIndexUse(const Activity& activity);
// DataLoss if it cannot be decoded.
Status DecodeIndexUse(std::string_view bytes, Activity* activity);

}  // namespace hearth::index
