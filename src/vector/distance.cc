#include "vector/distance.h"

#include <cmath>

#include "base/check.h"
#include "vector/distance_kernels.h"

namespace hearth::vector {
namespace {

double CosineDistance(const CosineSums& sums) {
  const double product = sums.a_squared * sums.b_squared;
  // One root of the product is exact for equal vectors; two roots are not. Two roots are used only
  // if the product is out of the range of a double.
  const double norms = std::isnormal(product)
                           ? std::sqrt(product)
                           : std::sqrt(sums.a_squared) * std::sqrt(sums.b_squared);
  return 1 - sums.dot / norms;
}

}  // namespace

double Distance(DistanceMeasure measure, std::span<const double> a, std::span<const double> b) {
  CHECK(a.size() == b.size());
  const DistanceKernels& kernels = BestKernels();
  switch (measure) {
    case DistanceMeasure::kEuclidean:
      return std::sqrt(kernels.squared_distance_double(a.data(), b.data(), a.size()));
    case DistanceMeasure::kCosine:
      return CosineDistance(kernels.cosine_sums_double(a.data(), b.data(), a.size()));
    case DistanceMeasure::kDotProduct:
      break;
  }
  return kernels.dot_double(a.data(), b.data(), a.size());
}

double Distance(DistanceMeasure measure, std::span<const float> a, std::span<const float> b) {
  CHECK(a.size() == b.size());
  const DistanceKernels& kernels = BestKernels();
  switch (measure) {
    case DistanceMeasure::kEuclidean:
      return std::sqrt(kernels.squared_distance_float(a.data(), b.data(), a.size()));
    case DistanceMeasure::kCosine:
      return CosineDistance(kernels.cosine_sums_float(a.data(), b.data(), a.size()));
    case DistanceMeasure::kDotProduct:
      break;
  }
  return kernels.dot_float(a.data(), b.data(), a.size());
}

bool IsNearer(DistanceMeasure measure, double a, double b) {
  if (std::isnan(a)) return false;
  if (std::isnan(b)) return true;
  return measure == DistanceMeasure::kDotProduct ? a > b : a < b;
}

}  // namespace hearth::vector
