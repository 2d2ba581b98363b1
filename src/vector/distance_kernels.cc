// Each loop is written once, with the compiler's vector types, and compiled once per instruction
// set by inlining it into functions with a target attribute. This file is compiled with
// -ffp-contract=fast, so that a multiplication and an addition become one instruction if there is
// one.
#include "vector/distance_kernels.h"

#include <cstring>

namespace hearth::vector {
namespace {

#define HEARTH_INLINE inline __attribute__((always_inline))

// As many elements as a register of `kBytes` holds sums. Vectors are passed by address only:
// passing them in registers would depend on the instruction set.
template <typename ElementType, typename SumType, size_t kBytes>
struct Lanes {
  using Element = ElementType;
  using Sum = SumType;
  static constexpr size_t kCount = kBytes / sizeof(Sum);
  typedef Element Elements __attribute__((vector_size(kCount * sizeof(Element))));
  typedef Sum Sums __attribute__((vector_size(kBytes)));

  static HEARTH_INLINE void Load(const Element* from, Sums* to) {
    Elements elements;
    std::memcpy(&elements, from, sizeof(elements));
    *to = __builtin_convertvector(elements, Sums);
  }
  static HEARTH_INLINE Sum Total(const Sums& sums) {
    Sum total = 0;
    for (size_t lane = 0; lane < kCount; ++lane) total += sums[lane];
    return total;
  }
};

struct AddSquaredDifference {
  template <typename T>
  static HEARTH_INLINE void Step(const T& a, const T& b, T* sum) {
    const T difference = a - b;
    *sum += difference * difference;
  }
};

struct AddProduct {
  template <typename T>
  static HEARTH_INLINE void Step(const T& a, const T& b, T* sum) {
    *sum += a * b;
  }
};

// Four independent sums hide the latency of additions.
template <typename L, typename Operation>
HEARTH_INLINE typename L::Sum Reduce(const typename L::Element* a, const typename L::Element* b,
                                     size_t size) {
  using Sum = typename L::Sum;
  typename L::Sums x, y, sum0 = {}, sum1 = {}, sum2 = {}, sum3 = {};
  size_t i = 0;
  for (; i + 4 * L::kCount <= size; i += 4 * L::kCount) {
    L::Load(a + i, &x);
    L::Load(b + i, &y);
    Operation::Step(x, y, &sum0);
    L::Load(a + i + L::kCount, &x);
    L::Load(b + i + L::kCount, &y);
    Operation::Step(x, y, &sum1);
    L::Load(a + i + 2 * L::kCount, &x);
    L::Load(b + i + 2 * L::kCount, &y);
    Operation::Step(x, y, &sum2);
    L::Load(a + i + 3 * L::kCount, &x);
    L::Load(b + i + 3 * L::kCount, &y);
    Operation::Step(x, y, &sum3);
  }
  for (; i + L::kCount <= size; i += L::kCount) {
    L::Load(a + i, &x);
    L::Load(b + i, &y);
    Operation::Step(x, y, &sum0);
  }
  sum0 = (sum0 + sum1) + (sum2 + sum3);
  Sum total = L::Total(sum0);
  for (; i < size; ++i) {
    Operation::Step(static_cast<Sum>(a[i]), static_cast<Sum>(b[i]), &total);
  }
  return total;
}

// All three sums are added in the same order, so that equal vectors give three equal sums.
template <typename L>
HEARTH_INLINE CosineSums ReduceCosine(const typename L::Element* a, const typename L::Element* b,
                                      size_t size) {
  typename L::Sums x, y, dot0 = {}, dot1 = {}, aa0 = {}, aa1 = {}, bb0 = {}, bb1 = {};
  size_t i = 0;
  for (; i + 2 * L::kCount <= size; i += 2 * L::kCount) {
    L::Load(a + i, &x);
    L::Load(b + i, &y);
    AddProduct::Step(x, y, &dot0);
    AddProduct::Step(x, x, &aa0);
    AddProduct::Step(y, y, &bb0);
    L::Load(a + i + L::kCount, &x);
    L::Load(b + i + L::kCount, &y);
    AddProduct::Step(x, y, &dot1);
    AddProduct::Step(x, x, &aa1);
    AddProduct::Step(y, y, &bb1);
  }
  dot0 += dot1;
  aa0 += aa1;
  bb0 += bb1;
  CosineSums sums = {L::Total(dot0), L::Total(aa0), L::Total(bb0)};
  for (; i < size; ++i) {
    const double left = a[i];
    const double right = b[i];
    AddProduct::Step(left, right, &sums.dot);
    AddProduct::Step(left, left, &sums.a_squared);
    AddProduct::Step(right, right, &sums.b_squared);
  }
  return sums;
}

// Defines `name`, the table of the loops compiled for `target` with registers of `bytes` bytes.
#define HEARTH_KERNELS(name, label, target, bytes)                                         \
  struct name##Loops {                                                                     \
    using Doubles = Lanes<double, double, bytes>;                                          \
    using Floats = Lanes<float, double, bytes>;                                            \
    using QuickFloats = Lanes<float, float, bytes>;                                        \
    target static double SquaredDouble(const double* a, const double* b, size_t size) {    \
      return Reduce<Doubles, AddSquaredDifference>(a, b, size);                            \
    }                                                                                      \
    target static double DotDouble(const double* a, const double* b, size_t size) {        \
      return Reduce<Doubles, AddProduct>(a, b, size);                                      \
    }                                                                                      \
    target static CosineSums CosineDouble(const double* a, const double* b, size_t size) { \
      return ReduceCosine<Doubles>(a, b, size);                                            \
    }                                                                                      \
    target static double SquaredFloat(const float* a, const float* b, size_t size) {       \
      return Reduce<Floats, AddSquaredDifference>(a, b, size);                             \
    }                                                                                      \
    target static double DotFloat(const float* a, const float* b, size_t size) {           \
      return Reduce<Floats, AddProduct>(a, b, size);                                       \
    }                                                                                      \
    target static CosineSums CosineFloat(const float* a, const float* b, size_t size) {    \
      return ReduceCosine<Floats>(a, b, size);                                             \
    }                                                                                      \
    target static float QuickSquared(const float* a, const float* b, size_t size) {        \
      return Reduce<QuickFloats, AddSquaredDifference>(a, b, size);                        \
    }                                                                                      \
    target static float QuickDot(const float* a, const float* b, size_t size) {            \
      return Reduce<QuickFloats, AddProduct>(a, b, size);                                  \
    }                                                                                      \
  };                                                                                       \
  constexpr DistanceKernels name = {label,                                                 \
                                    name##Loops::SquaredDouble,                            \
                                    name##Loops::DotDouble,                                \
                                    name##Loops::CosineDouble,                             \
                                    name##Loops::SquaredFloat,                             \
                                    name##Loops::DotFloat,                                 \
                                    name##Loops::CosineFloat,                              \
                                    name##Loops::QuickSquared,                             \
                                    name##Loops::QuickDot}

#define HEARTH_ANY_PROCESSOR
HEARTH_KERNELS(kBaseline, "baseline", HEARTH_ANY_PROCESSOR, 16);
#if defined(__x86_64__)
HEARTH_KERNELS(kAvx2, "avx2", __attribute__((target("avx2,fma"))), 32);
HEARTH_KERNELS(kAvx512, "avx512", __attribute__((target("avx512f,avx2,fma"))), 64);
#endif

}  // namespace

std::vector<const DistanceKernels*> SupportedKernels() {
  std::vector<const DistanceKernels*> supported;
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f")) supported.push_back(&kAvx512);
  if (avx2) supported.push_back(&kAvx2);
#endif
  supported.push_back(&kBaseline);
  return supported;
}

const DistanceKernels& BestKernels() {
  static const DistanceKernels& best = *SupportedKernels().front();
  return best;
}

}  // namespace hearth::vector
