// How far apart two vectors are, as Firestore's FindNearest defines it.
#pragma once

#include <span>

#include "model/distance_measure.h"

namespace hearth::vector {

using model::DistanceMeasure;

// kEuclidean: the root of the sum of squared differences. kCosine: one less the cosine of the
// angle, NaN when a vector has no direction (all zeros, or an infinity). kDotProduct: the dot
// product, of which larger is nearer. Sums are kept in double, also for floats. Requires equal
// sizes.
double Distance(DistanceMeasure measure, std::span<const double> a, std::span<const double> b);
double Distance(DistanceMeasure measure, std::span<const float> a, std::span<const float> b);

// True when distance `a` comes before distance `b` in results. NaN comes after everything.
bool IsNearer(DistanceMeasure measure, double a, double b);

}  // namespace hearth::vector
