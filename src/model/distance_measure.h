#pragma once

#include <cstdint>

namespace hearth::model {

// How the distance of two vectors is measured; vector/distance.h has the formulas.
enum class DistanceMeasure : uint8_t { kEuclidean, kCosine, kDotProduct };

}  // namespace hearth::model
