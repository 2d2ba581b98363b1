// The inner loops of distances, one set per instruction set, and the choice between them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace hearth::vector {

struct CosineSums {
  double dot;
  double a_squared;
  double b_squared;
};

// One variant of every loop. All take two vectors of `size` components with the alignment of their
// type. The quick ones sum floats in float: precise enough to walk a graph, but not to report a
// distance.
struct DistanceKernels {
  std::string_view name;
  double (*squared_distance_double)(const double* a, const double* b, size_t size);
  double (*dot_double)(const double* a, const double* b, size_t size);
  CosineSums (*cosine_sums_double)(const double* a, const double* b, size_t size);
  double (*squared_distance_float)(const float* a, const float* b, size_t size);
  double (*dot_float)(const float* a, const float* b, size_t size);
  CosineSums (*cosine_sums_float)(const float* a, const float* b, size_t size);
  float (*quick_squared_distance)(const float* a, const float* b, size_t size);
  float (*quick_dot)(const float* a, const float* b, size_t size);
};

// The variants that this processor supports, best first. Never empty.
std::vector<const DistanceKernels*> SupportedKernels();
// The first of them, chosen once.
const DistanceKernels& BestKernels();

}  // namespace hearth::vector
