#include "vector/nearest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "base/testing/test_seed.h"

namespace hearth::vector {
namespace {

std::vector<std::string> Names(NearestResults& results) {
  std::vector<std::string> names;
  for (const Neighbour& neighbour : results.Take()) names.push_back(neighbour.name);
  return names;
}

using NameList = std::vector<std::string>;

TEST(NearestResultsTest, KeepsTheNearestInOrderAndTiesByName) {
  NearestResults results({DistanceMeasure::kEuclidean, 3, std::nullopt});
  EXPECT_TRUE(results.Offer(5, "far"));
  EXPECT_TRUE(results.Offer(1, "c"));
  EXPECT_TRUE(results.Offer(1, "b"));
  EXPECT_TRUE(results.Offer(1, "a"));
  EXPECT_FALSE(results.Offer(1, "d"));
  EXPECT_FALSE(results.Offer(2, "0"));
  EXPECT_EQ(results.size(), 3u);
  EXPECT_EQ(Names(results), (NameList{"a", "b", "c"}));
  EXPECT_EQ(results.size(), 0u);
}

TEST(NearestResultsTest, NamesAreComparedAsUnsignedBytes) {
  NearestResults results({DistanceMeasure::kEuclidean, 2, std::nullopt});
  EXPECT_TRUE(results.Offer(1, "\xff"));
  EXPECT_TRUE(results.Offer(1, "z"));
  EXPECT_EQ(Names(results), (NameList{"z", "\xff"}));
}

TEST(NearestResultsTest, LargerProductsAreNearer) {
  NearestResults results({DistanceMeasure::kDotProduct, 2, std::nullopt});
  for (const double product : {-2.0, 5.0, 0.0, 4.0}) {
    results.Offer(product, std::to_string(static_cast<int>(product)));
  }
  EXPECT_EQ(Names(results), (NameList{"5", "4"}));
}

TEST(NearestResultsTest, TheThresholdItselfPasses) {
  NearestResults at_most({DistanceMeasure::kCosine, 9, 1.0});
  EXPECT_TRUE(at_most.Offer(1, "on"));
  EXPECT_FALSE(at_most.Offer(std::nextafter(1.0, 2.0), "over"));
  EXPECT_FALSE(at_most.Offer(std::nan(""), "nan"));

  NearestResults at_least({DistanceMeasure::kDotProduct, 9, 1.0});
  EXPECT_TRUE(at_least.Offer(1, "on"));
  EXPECT_FALSE(at_least.Offer(std::nextafter(1.0, 0.0), "under"));
  EXPECT_FALSE(at_least.Offer(std::nan(""), "nan"));
}

TEST(NearestResultsTest, NanComesLastAndMakesWayForNumbers) {
  NearestResults results({DistanceMeasure::kCosine, 2, std::nullopt});
  EXPECT_TRUE(results.Offer(std::nan(""), "a"));
  EXPECT_TRUE(results.Offer(std::nan(""), "b"));
  EXPECT_TRUE(results.Offer(2, "c"));
  EXPECT_EQ(Names(results), (NameList{"c", "a"}));
}

TEST(NearestResultsTest, ALimitOfZeroKeepsNothing) {
  NearestResults results({DistanceMeasure::kEuclidean, 0, std::nullopt});
  EXPECT_FALSE(results.Offer(0, "a"));
  EXPECT_TRUE(results.Take().empty());
}

TEST(NearestResultsTest, AgreesWithSortingEverything) {
  Dice dice(TestSeed());
  for (int round = 0; round < 200; ++round) {
    const size_t limit = 1 + dice.Below(20);
    NearestResults results({DistanceMeasure::kEuclidean, limit, std::nullopt});
    std::vector<std::tuple<double, std::string>> all;
    for (size_t i = dice.Below(100); i > 0; --i) {
      all.emplace_back(static_cast<double>(dice.Below(10)), std::to_string(i));
      results.Offer(std::get<0>(all.back()), std::get<1>(all.back()));
    }
    std::sort(all.begin(), all.end());
    all.resize(std::min(all.size(), limit));
    std::vector<std::tuple<double, std::string>> kept;
    for (const Neighbour& neighbour : results.Take()) {
      kept.emplace_back(neighbour.distance, neighbour.name);
    }
    EXPECT_EQ(kept, all);
  }
}

}  // namespace
}  // namespace hearth::vector
