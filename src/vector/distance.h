// The distance between two vectors, as Firestore's FindNearest defines it.
#pragma once

#include <span>

#include "model/distance_measure.h"

namespace hearth::vector {

using model::DistanceMeasure;

// kEuclidean: the square root of the sum of squared differences. kCosine: one minus the cosine of
// the angle, NaN if a vector has no direction (all zeros, or an infinity). kDotProduct: the dot
// product; larger is nearer. Sums are computed in double, even for floats. Requires equal sizes.
double Distance(DistanceMeasure measure, std::span<const double> a, std::span<const double> b);
double Distance(DistanceMeasure measure, std::span<const float> a, std::span<const float> b);

// True if distance `a` comes before distance `b` in results. NaN comes last.
bool IsNearer(DistanceMeasure measure, double a, double b);

}  // namespace hearth::vector
