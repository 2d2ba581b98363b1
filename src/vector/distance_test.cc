#include "vector/distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/testing/test_seed.h"
#include "vector/distance_kernels.h"
#include "vector/testing/numbers.h"

namespace hearth::vector {
namespace {

struct Reference {
  long double squared_distance = 0;
  long double dot = 0;
  long double a_squared = 0;
  long double b_squared = 0;
  long double dot_scale = 0;  // The sum of the products' magnitudes; rounding is relative to it.
};

template <typename T>
Reference Naive(const std::vector<T>& a, const std::vector<T>& b) {
  Reference sums;
  for (size_t i = 0; i < a.size(); ++i) {
    const long double x = a[i];
    const long double y = b[i];
    sums.squared_distance += (x - y) * (x - y);
    sums.dot += x * y;
    sums.a_squared += x * x;
    sums.b_squared += y * y;
    sums.dot_scale += std::abs(x * y);
  }
  return sums;
}

template <typename T>
std::vector<T> RandomVector(std::mt19937_64& engine, size_t size) {
  std::normal_distribution<double> normal;
  std::vector<T> components(size);
  for (T& component : components) component = static_cast<T>(normal(engine));
  return components;
}

void ExpectClose(double actual, long double expected, long double scale, double tolerance) {
  EXPECT_NEAR(actual, static_cast<double>(expected), static_cast<double>(scale) * tolerance);
}

// One variant of the loops.
class DistanceKernelsTest : public testing::TestWithParam<const DistanceKernels*> {};

TEST_P(DistanceKernelsTest, MatchesTheNaiveSumsForEveryLength) {
  const DistanceKernels& kernels = *GetParam();
  std::mt19937_64 engine(TestSeed());
  for (size_t size = 0; size < 2'100; size += size < 140 ? 1 : 61) {
    SCOPED_TRACE(size);
    const auto a = RandomVector<double>(engine, size);
    const auto b = RandomVector<double>(engine, size);
    const Reference sums = Naive(a, b);
    ExpectClose(kernels.squared_distance_double(a.data(), b.data(), size), sums.squared_distance,
                sums.squared_distance, 1e-14);
    ExpectClose(kernels.dot_double(a.data(), b.data(), size), sums.dot, sums.dot_scale, 1e-14);
    const CosineSums cosine = kernels.cosine_sums_double(a.data(), b.data(), size);
    ExpectClose(cosine.dot, sums.dot, sums.dot_scale, 1e-14);
    ExpectClose(cosine.a_squared, sums.a_squared, sums.a_squared, 1e-14);
    ExpectClose(cosine.b_squared, sums.b_squared, sums.b_squared, 1e-14);
  }
}

TEST_P(DistanceKernelsTest, AddsUpFloatsInDouble) {
  const DistanceKernels& kernels = *GetParam();
  std::mt19937_64 engine(TestSeed());
  for (size_t size = 0; size < 2'100; size += size < 140 ? 1 : 61) {
    SCOPED_TRACE(size);
    const auto a = RandomVector<float>(engine, size);
    const auto b = RandomVector<float>(engine, size);
    const Reference sums = Naive(a, b);
    ExpectClose(kernels.squared_distance_float(a.data(), b.data(), size), sums.squared_distance,
                sums.squared_distance, 1e-14);
    ExpectClose(kernels.dot_float(a.data(), b.data(), size), sums.dot, sums.dot_scale, 1e-14);
    const CosineSums cosine = kernels.cosine_sums_float(a.data(), b.data(), size);
    ExpectClose(cosine.dot, sums.dot, sums.dot_scale, 1e-14);
    ExpectClose(cosine.a_squared, sums.a_squared, sums.a_squared, 1e-14);
    ExpectClose(cosine.b_squared, sums.b_squared, sums.b_squared, 1e-14);
    ExpectClose(kernels.quick_squared_distance(a.data(), b.data(), size), sums.squared_distance,
                sums.squared_distance, 1e-5);
    ExpectClose(kernels.quick_dot(a.data(), b.data(), size), sums.dot, sums.dot_scale, 1e-5);
  }
}

TEST_P(DistanceKernelsTest, KeepsWhatFloatSumsWouldLose) {
  // 2^24 + 1 is not a float. The large terms cancel and leave the small one.
  const std::vector<float> a = {16'777'216, 1, -16'777'216, 0, 0};
  const std::vector<float> ones(a.size(), 1);
  EXPECT_EQ(GetParam()->dot_float(a.data(), ones.data(), a.size()), 1);
}

TEST_P(DistanceKernelsTest, PassesSpecialValuesOn) {
  const DistanceKernels& kernels = *GetParam();
  // In every lane of the widest loop, and in the remainder after it.
  for (size_t position = 0; position < 70; ++position) {
    std::vector<double> a(70, 1);
    const std::vector<double> b(70, 2);
    a[position] = kInfinity;
    EXPECT_EQ(kernels.squared_distance_double(a.data(), b.data(), a.size()), kInfinity);
    EXPECT_EQ(kernels.dot_double(a.data(), b.data(), a.size()), kInfinity);
    EXPECT_TRUE(std::isnan(kernels.squared_distance_double(a.data(), a.data(), a.size())));
    a[position] = std::nan("");
    EXPECT_TRUE(std::isnan(kernels.squared_distance_double(a.data(), b.data(), a.size())));
    EXPECT_TRUE(std::isnan(kernels.dot_double(a.data(), b.data(), a.size())));
    a[position] = std::numeric_limits<double>::denorm_min();
    EXPECT_EQ(kernels.dot_double(a.data(), b.data(), a.size()), 138);
  }
}

TEST_P(DistanceKernelsTest, ReadsUnalignedVectorsAndNothingBehindThem) {
  for (size_t size = 1; size < 70; ++size) {
    // Exact allocations, so that AddressSanitizer detects reads past the end.
    const std::vector<float> a(size + 1, 3);
    const std::vector<float> b(size + 1, 1);
    EXPECT_EQ(GetParam()->quick_squared_distance(a.data() + 1, b.data() + 1, size),
              4 * static_cast<float>(size));
    EXPECT_EQ(GetParam()->squared_distance_float(a.data() + 1, b.data() + 1, size),
              4 * static_cast<double>(size));
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, DistanceKernelsTest, testing::ValuesIn(SupportedKernels()),
                         [](const auto& variant) { return std::string(variant.param->name); });

double Of(DistanceMeasure measure, const std::vector<double>& a, const std::vector<double>& b) {
  return Distance(measure, std::span(a), std::span(b));
}

TEST(DistanceTest, IsWhatTheOfficialEmulatorReports) {
  EXPECT_EQ(Of(DistanceMeasure::kEuclidean, {1, 1}, {2, 2}), 1.4142135623730951);
  EXPECT_EQ(Of(DistanceMeasure::kEuclidean, {1, 1}, {5, 0}), 4.123105625617661);
  EXPECT_EQ(Of(DistanceMeasure::kEuclidean, {1, 1}, {kInfinity, 1}), kInfinity);
  EXPECT_EQ(Of(DistanceMeasure::kCosine, {1, 1}, {1, 1}), 0);
  EXPECT_EQ(Of(DistanceMeasure::kCosine, {1, 1}, {2, 2}), 0);
  EXPECT_EQ(Of(DistanceMeasure::kCosine, {1, 1}, {1, 2}), 0.05131670194948623);
  EXPECT_EQ(Of(DistanceMeasure::kCosine, {1, 1}, {5, 0}), 0.29289321881345254);
  EXPECT_EQ(Of(DistanceMeasure::kCosine, {1, 1}, {-1, -1}), 2);
  EXPECT_TRUE(std::isnan(Of(DistanceMeasure::kCosine, {1, 1}, {0, 0})));
  EXPECT_TRUE(std::isnan(Of(DistanceMeasure::kCosine, {1, 1}, {kInfinity, 1})));
  EXPECT_EQ(Of(DistanceMeasure::kDotProduct, {1, 1}, {5, 0}), 5);
  EXPECT_EQ(Of(DistanceMeasure::kDotProduct, {1, 1}, {kInfinity, 1}), kInfinity);
}

TEST(DistanceTest, CosineSurvivesHugeAndTinyVectors) {
  EXPECT_EQ(Of(DistanceMeasure::kCosine, {1e100, 0}, {1e100, 0}), 0);
  EXPECT_EQ(Of(DistanceMeasure::kCosine, {1e-100, 0}, {1e-100, 0}), 0);
  EXPECT_EQ(Of(DistanceMeasure::kCosine, {1e-100, 0}, {0, 1e-100}), 1);
}

TEST(DistanceTest, FloatsAgreeWithDoubles) {
  std::mt19937_64 engine(TestSeed());
  for (const auto measure :
       {DistanceMeasure::kEuclidean, DistanceMeasure::kCosine, DistanceMeasure::kDotProduct}) {
    const auto a = RandomVector<float>(engine, 769);
    const auto b = RandomVector<float>(engine, 769);
    const double expected = Of(measure, {a.begin(), a.end()}, {b.begin(), b.end()});
    EXPECT_NEAR(Distance(measure, std::span(a), std::span(b)), expected, 1e-5 * std::abs(expected));
  }
}

TEST(DistanceTest, NanIsFartherThanEverything) {
  const double nan = std::nan("");
  EXPECT_TRUE(IsNearer(DistanceMeasure::kCosine, 2, nan));
  EXPECT_TRUE(IsNearer(DistanceMeasure::kDotProduct, -kInfinity, nan));
  EXPECT_FALSE(IsNearer(DistanceMeasure::kEuclidean, nan, kInfinity));
  EXPECT_FALSE(IsNearer(DistanceMeasure::kEuclidean, nan, nan));
  EXPECT_TRUE(IsNearer(DistanceMeasure::kEuclidean, 1, 2));
  EXPECT_TRUE(IsNearer(DistanceMeasure::kDotProduct, 2, 1));
}

}  // namespace
}  // namespace hearth::vector
