#pragma once

#include <compare>
#include <string_view>

#include "model/value.h"

namespace hearth::model {

// Firestore's total order of all values: null < booleans < numbers (NaN first; integers and doubles
// compared exactly, even beyond 2^53; -0 equals 0) < timestamps < strings (UTF-8 bytes) < bytes <
// references (segment by segment) < geo points < arrays < vectors (shorter first) < maps (entry by
// entry in the order of keys). Filters and array transforms treat values that compare equal (1 and
// 1.0) as equivalent.
std::weak_ordering CompareValues(const ValueView& left, const ValueView& right);

// The order of references, for names or for paths in the same database: segment by segment, numeric
// ids first.
std::weak_ordering CompareNames(std::string_view left, std::string_view right);

}  // namespace hearth::model
