// For tests: extreme numbers.
#pragma once

#include <limits>

namespace hearth::vector {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace hearth::vector
