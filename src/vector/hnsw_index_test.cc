#include "vector/hnsw_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/test_seed.h"
#include "vector/testing/numbers.h"

#if defined(_GLIBCXX_TSAN)
// hnswlib locks the nodes of its graph in the order of its walk. Only one thread at a time does so,
// under our lock, but ThreadSanitizer reports potential deadlocks.
extern "C" const char* __tsan_default_options() { return "detect_deadlocks=0"; }
#endif

namespace hearth::vector {
namespace {

using Vector = std::vector<double>;
using Model = std::map<std::string, Vector>;

constexpr size_t kDimension = 12;

HnswOptions Options(DistanceMeasure measure) {
  HnswOptions options;
  options.dimension = kDimension;
  options.measure = measure;
  options.ef_construction = 60;
  options.capacity_initial = 8;  // So that it must grow.
  return options;
}

class HnswIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("hearth_hnsw_" + std::to_string(std::random_device()()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ / name; }

  Vector RandomVector() {
    std::normal_distribution<double> normal;
    Vector vector(kDimension);
    for (double& component : vector) component = normal(engine_);
    return vector;
  }
  // Applies one random change to both `index` and `model`, among `keys` possible keys.
  void Change(HnswIndex& index, Model& model, size_t keys, size_t removals_in_ten) {
    const std::string key = "k" + std::to_string(engine_() % keys);
    if (engine_() % 10 < removals_in_ten) {
      model.erase(key);
      ASSERT_TRUE(index.Remove(key).ok());
    } else {
      model[key] = RandomVector();
      ASSERT_TRUE(index.Put(key, model[key]).ok());
    }
  }
  // The fraction of the true neighbours of random queries that a search finds. Every result must
  // exist, have the right distance, be in order and occur once.
  double Recall(const HnswIndex& index, const Model& model, size_t limit);

  std::mt19937_64 engine_{TestSeed()};
  std::filesystem::path folder_;
};

double HnswIndexTest::Recall(const HnswIndex& index, const Model& model, size_t limit) {
  const DistanceMeasure measure = index.options().measure;
  size_t found = 0;
  size_t wanted = 0;
  for (int round = 0; round < 20; ++round) {
    const Vector query = RandomVector();
    NearestResults exact({measure, limit, std::nullopt});
    for (const auto& [key, vector] : model) {
      exact.Offer(Distance(measure, std::span(query), std::span(vector)), key);
    }
    std::set<std::string> truth;
    for (const Neighbour& neighbour : exact.Take()) truth.insert(neighbour.name);
    const auto answer = index.Search(query, {limit});
    EXPECT_TRUE(answer.ok()) << answer.status().ToString();
    if (!answer.ok()) return 0;
    EXPECT_EQ(answer->size(), truth.size());
    std::set<std::string> returned;
    for (size_t i = 0; i < answer->size(); ++i) {
      const Neighbour& neighbour = (*answer)[i];
      EXPECT_TRUE(returned.insert(neighbour.name).second) << neighbour.name << " twice";
      const auto there = model.find(neighbour.name);
      EXPECT_NE(there, model.end()) << neighbour.name << " was removed";
      if (there == model.end()) continue;
      EXPECT_NEAR(neighbour.distance, Distance(measure, std::span(query), std::span(there->second)),
                  1e-4);
      EXPECT_FALSE(i > 0 && IsNearer(measure, neighbour.distance, (*answer)[i - 1].distance));
      found += truth.count(neighbour.name);
    }
    wanted += truth.size();
  }
  return wanted == 0 ? 1 : static_cast<double>(found) / static_cast<double>(wanted);
}

class HnswMeasureTest : public HnswIndexTest,
                        public testing::WithParamInterface<DistanceMeasure> {};

TEST_P(HnswMeasureTest, KeepsUpWithRandomChanges) {
  auto index = *HnswIndex::Create(Options(GetParam()));
  Model model;
  // Growth, then replacements, then shrinking: each long enough to wear out a graph.
  for (const size_t removals_in_ten : {0u, 3u, 9u, 2u}) {
    for (int i = 0; i < 2'500; ++i) {
      Change(*index, model, 2'500, removals_in_ten);
      if (i % 250 != 0) continue;
      EXPECT_GE(Recall(*index, model, 10), 0.9);
    }
    ASSERT_EQ(index->size(), model.size());
    EXPECT_GE(Recall(*index, model, 10), 0.9);
  }
}

INSTANTIATE_TEST_SUITE_P(Measures, HnswMeasureTest,
                         testing::Values(DistanceMeasure::kEuclidean, DistanceMeasure::kCosine,
                                         DistanceMeasure::kDotProduct));

TEST_F(HnswIndexTest, WhatWasPutIsFoundAtOnce) {
  auto index = *HnswIndex::Create(Options(DistanceMeasure::kEuclidean));
  for (int i = 0; i < 4'000; ++i) {
    const std::string key = std::to_string(engine_() % 2'000);
    const Vector vector = RandomVector();
    ASSERT_TRUE(index->Put(key, vector).ok());
    const auto nearest = index->Search(vector, {1});
    ASSERT_TRUE(nearest.ok());
    ASSERT_EQ(nearest->size(), 1u);
    ASSERT_EQ((*nearest)[0].name, key) << "after " << i;
  }
}

TEST_F(HnswIndexTest, RemovingEverythingStartsAnew) {
  auto index = *HnswIndex::Create(Options(DistanceMeasure::kEuclidean));
  for (int round = 0; round < 3; ++round) {
    Model model;
    for (int i = 0; i < 1'500; ++i) Change(*index, model, 1'000'000, 0);
    const size_t bytes = index->bytes();
    while (!model.empty()) {
      ASSERT_TRUE(index->Remove(model.begin()->first).ok());
      model.erase(model.begin());
    }
    EXPECT_EQ(index->size(), 0u);
    EXPECT_LT(index->bytes(), bytes / 10);
    EXPECT_TRUE(index->Search(RandomVector(), {10})->empty());
    EXPECT_TRUE(index->Remove("absent").ok());
  }
}

TEST_F(HnswIndexTest, SlotsAreUsedAgain) {
  auto index = *HnswIndex::Create(Options(DistanceMeasure::kEuclidean));
  Model model;
  for (int i = 0; i < 2'000; ++i) Change(*index, model, 500, 0);
  size_t bytes_max = 0;
  for (int i = 0; i < 10'000; ++i) {
    Change(*index, model, 500, 5);
    bytes_max = std::max(bytes_max, index->bytes());
  }
  // Two graphs with room for 500 vectors and some to spare.
  EXPECT_LT(bytes_max, size_t{2'000'000});
}

TEST_F(HnswIndexTest, FindsAllOfManyEqualVectors) {
  auto index = *HnswIndex::Create(Options(DistanceMeasure::kEuclidean));
  Model model;
  const Vector same = RandomVector();
  for (int i = 0; i < 1'500; ++i) {
    const std::string key = std::to_string(i);
    model[key] = i % 2 == 0 ? same : RandomVector();
    ASSERT_TRUE(index->Put(key, model[key]).ok());
  }
  const auto nearest = index->Search(same, {100});
  ASSERT_TRUE(nearest.ok());
  ASSERT_EQ(nearest->size(), 100u);
  for (const Neighbour& neighbour : *nearest) EXPECT_EQ(neighbour.distance, 0);
}

TEST_F(HnswIndexTest, VectorsWithoutDirectionComeLast) {
  auto index = *HnswIndex::Create(Options(DistanceMeasure::kCosine));
  Vector infinite(kDimension, 1);
  infinite[3] = -kInfinity;
  ASSERT_TRUE(index->Put("zero", Vector(kDimension, 0)).ok());
  ASSERT_TRUE(index->Put("infinite", infinite).ok());
  ASSERT_TRUE(index->Put("one", Vector(kDimension, 1)).ok());
  ASSERT_TRUE(index->Put("tiny", Vector(kDimension, -1e-300)).ok());
  ASSERT_TRUE(index->Put("huge", Vector(kDimension, 1e300)).ok());
  EXPECT_EQ(index->size(), 5u);
  auto nearest = *index->Search(Vector(kDimension, 2), {10});
  ASSERT_EQ(nearest.size(), 5u);
  EXPECT_NEAR(nearest[0].distance, 0, 1e-6);
  EXPECT_NEAR(nearest[1].distance, 0, 1e-6);
  EXPECT_EQ(nearest[2].name, "tiny");
  EXPECT_NEAR(nearest[2].distance, 2, 1e-6);
  EXPECT_EQ(nearest[3].name, "infinite");
  EXPECT_TRUE(std::isnan(nearest[3].distance));
  EXPECT_EQ(nearest[4].name, "zero");

  ASSERT_TRUE(index->Put("zero", Vector(kDimension, 3)).ok());  // Now it has a direction,
  ASSERT_TRUE(index->Put("one", Vector(kDimension, 0)).ok());   // and this has none,
  ASSERT_TRUE(index->Remove("infinite").ok());                  // and this is gone.
  nearest = *index->Search(Vector(kDimension, 2), {10});
  ASSERT_EQ(nearest.size(), 4u);
  EXPECT_EQ(nearest[3].name, "one");
  EXPECT_TRUE(std::isnan(nearest[3].distance));
}

TEST_F(HnswIndexTest, InfinitiesAreFar) {
  auto index = *HnswIndex::Create(Options(DistanceMeasure::kEuclidean));
  ASSERT_TRUE(index->Put("far", Vector(kDimension, kInfinity)).ok());
  ASSERT_TRUE(index->Put("near", Vector(kDimension, 5)).ok());
  const auto nearest = *index->Search(Vector(kDimension, 1), {2});
  ASSERT_EQ(nearest.size(), 2u);
  EXPECT_EQ(nearest[0].name, "near");
  EXPECT_GT(nearest[1].distance, 1e16);
}

TEST_F(HnswIndexTest, RefusesWhatItCannotHold) {
  auto options = Options(DistanceMeasure::kCosine);
  auto index = *HnswIndex::Create(options);
  EXPECT_EQ(index->Put("a", Vector(kDimension + 1, 1)).code(), Code::kInvalidArgument);
  EXPECT_EQ(index->Put("a", Vector(kDimension, std::nan(""))).code(), Code::kInvalidArgument);
  const std::string longest(HnswIndex::kKeyBytesMax, 'a');
  EXPECT_TRUE(index->Put(longest, Vector(kDimension, 1)).ok());
  EXPECT_EQ(index->Put(longest + 'a', Vector(kDimension, 1)).code(), Code::kInvalidArgument);
  const auto refused = [&](const Vector& query) {
    return index->Search(query, {1}).status().code() == Code::kInvalidArgument;
  };
  EXPECT_TRUE(refused(Vector(kDimension - 1, 1)));
  EXPECT_TRUE(refused(Vector(kDimension, 0)));
  EXPECT_TRUE(refused(Vector(kDimension, kInfinity)));
  EXPECT_TRUE(refused(Vector(kDimension, std::nan(""))));
  EXPECT_TRUE(index->Search(Vector(kDimension, 1), {0})->empty());

  for (size_t HnswOptions::*number :
       {&HnswOptions::dimension, &HnswOptions::m, &HnswOptions::ef_construction,
        &HnswOptions::ef_search, &HnswOptions::capacity_initial}) {
    for (const size_t wrong : {size_t{0}, std::numeric_limits<size_t>::max()}) {
      options = Options(DistanceMeasure::kCosine);
      options.*number = wrong;
      EXPECT_EQ(HnswIndex::Create(options).status().code(), Code::kInvalidArgument);
    }
  }
}

TEST_F(HnswIndexTest, SearchesRunBesideAWriter) {
  auto index = *HnswIndex::Create(Options(DistanceMeasure::kEuclidean));
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(index->Put("always" + std::to_string(i), RandomVector()).ok());
  }
  const Vector marked(kDimension, 100);
  ASSERT_TRUE(index->Put("marked", marked).ok());
  std::atomic<bool> done = false;
  std::vector<std::thread> searchers;
  for (int i = 0; i < 3; ++i) {
    searchers.emplace_back([&] {
      while (!done) {
        const auto nearest = index->Search(marked, {20, 40});
        ASSERT_TRUE(nearest.ok());
        ASSERT_EQ(nearest->size(), 20u);
        ASSERT_EQ((*nearest)[0].name, "marked");
      }
    });
  }
  Model model;
  for (int i = 0; i < 4'000; ++i) Change(*index, model, 1'200, 4);
  EXPECT_TRUE(index->Save(Path("beside")).ok());
  done = true;
  for (std::thread& searcher : searchers) searcher.join();
  EXPECT_EQ(index->size(), model.size() + 201);
}

std::string FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

TEST_F(HnswIndexTest, ComesBackAsItWasSaved) {
  auto index = *HnswIndex::Create(Options(DistanceMeasure::kCosine));
  Model model;
  // At every stage: empty, one vector, many, worn and moving.
  for (const int changes : {0, 1, 1'500, 600, 600, 600, 600, 600}) {
    for (int i = 0; i < changes; ++i) Change(*index, model, 1'400, model.size() > 900 ? 4 : 0);
    ASSERT_TRUE(index->Put("zero", Vector(kDimension, 0)).ok());
    ASSERT_TRUE(index->Save(Path("saved")).ok());
    auto loaded = HnswIndex::Load(Path("saved"));
    ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
    EXPECT_EQ((*loaded)->size(), index->size());
    for (int round = 0; round < 10; ++round) {
      const Vector query = RandomVector();
      const auto before = *index->Search(query, {10});
      const auto after = *(*loaded)->Search(query, {10});
      ASSERT_EQ(before.size(), after.size());
      for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].name, after[i].name);
    }
    // Continue with the loaded index.
    ASSERT_TRUE(index->Remove("zero").ok());
    ASSERT_TRUE((*loaded)->Remove("zero").ok());
    index = *std::move(loaded);
  }
  EXPECT_GE(Recall(*index, model, 10), 0.9);
  EXPECT_FALSE(std::filesystem::exists(Path("saved.new")));
}

TEST_F(HnswIndexTest, DamageIsDataLoss) {
  auto index = *HnswIndex::Create(Options(DistanceMeasure::kEuclidean));
  Model model;
  for (int i = 0; i < 60; ++i) Change(*index, model, 50, 2);
  ASSERT_TRUE(index->Save(Path("good")).ok());
  const std::string good = FileBytes(Path("good"));
  // Every byte of the beginning and the end; a sample of the others.
  for (size_t at = 0; at < good.size(); at += at < 200 || at + 100 > good.size() ? 1 : 23) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << engine_() % 8));
    WriteFile(Path("bad"), bad);
    ASSERT_EQ(HnswIndex::Load(Path("bad")).status().code(), Code::kDataLoss) << at;
  }
  for (size_t size = 0; size < good.size(); size += 1 + size / 20) {
    WriteFile(Path("bad"), good.substr(0, size));
    ASSERT_EQ(HnswIndex::Load(Path("bad")).status().code(), Code::kDataLoss) << size;
  }
  WriteFile(Path("bad"), good + "more");
  EXPECT_EQ(HnswIndex::Load(Path("bad")).status().code(), Code::kDataLoss);
}

// Damage that the checksum does not reveal: a loaded index must still not read out of bounds.
TEST_F(HnswIndexTest, DamageUnderARightChecksumIsHarmless) {
  auto index = *HnswIndex::Create(Options(DistanceMeasure::kEuclidean));
  Model model;
  for (int i = 0; i < 1'300; ++i) Change(*index, model, 1'200, 1);
  ASSERT_TRUE(index->Save(Path("good")).ok());
  std::string good = FileBytes(Path("good"));
  good.resize(good.size() - 4);
  for (int round = 0; round < 300; ++round) {
    std::string bad = good;
    const size_t range = round % 2 == 0 ? 6'000 : bad.size();
    bad[engine_() % range] ^= static_cast<char>(1 << engine_() % 8);
    auto writer = CheckedWriter::Create(Path("bad"));
    ASSERT_TRUE(writer.ok());
    writer->Append(bad.data(), bad.size());
    ASSERT_TRUE(writer->Commit().ok());
    auto loaded = HnswIndex::Load(Path("bad"));
    if (!loaded.ok()) {
      EXPECT_EQ(loaded.status().code(), Code::kDataLoss);
      continue;
    }
    const Vector query((*loaded)->options().dimension, 1);
    EXPECT_TRUE((*loaded)->Search(query, {10}).ok());
    EXPECT_TRUE((*loaded)->Put("another", query).ok());
    EXPECT_TRUE((*loaded)->Remove("k1").ok());
  }
}

TEST_F(HnswIndexTest, FilesThatAreNotThere) {
  EXPECT_EQ(HnswIndex::Load(Path("absent")).status().code(), Code::kNotFound);
  auto index = *HnswIndex::Create(Options(DistanceMeasure::kEuclidean));
  EXPECT_EQ(index->Save(Path("no/such/folder")).code(), Code::kUnavailable);
  // A folder cannot be replaced; the temporary file is removed.
  std::filesystem::create_directory(Path("folder"));
  EXPECT_EQ(index->Save(Path("folder")).code(), Code::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(Path("folder.new")));
}

}  // namespace
}  // namespace hearth::vector
