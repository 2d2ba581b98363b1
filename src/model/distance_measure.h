#pragma once

#include <cstdint>

namespace hearth::model {

// How to measure the distance between two vectors; vector/distance.h has the formulas.
enum class DistanceMeasure : uint8_t { kEuclidean, kCosine, kDotProduct };

}  // namespace hearth::model
