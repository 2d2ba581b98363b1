// Vector indexes: searches find the same with and without them, and approximate ones are nearly as
// good.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/testing/nearest.h"
#include "index/index_config.h"
#include "indexing/vector_graphs.h"
#include "storage/testing/temporary_folder.h"
#include "vector/packed_vector.h"

namespace hearth::engine {
namespace {

using index::FieldMode;
using index::QueryScope;
using index::VectorIndex;
using model::DistanceMeasure;
using model::EncodeInteger;
using model::EncodeString;
using query::Operator;
using Join = query::CompositeFilter::Operator;

constexpr uint32_t kDimension = 4;

VectorIndex VectorIndexOf(std::string collection, std::vector<index::IndexField> prefix,
                          QueryScope scope = QueryScope::kCollection) {
  return {std::move(collection), scope, std::move(prefix), FieldAt("v"), kDimension, std::nullopt};
}

// A document of the tests. Small integers produce many equal distances.
struct Item {
  Components vector;
  std::string color;
  int64_t year = 0;
  std::vector<std::string> tags = {};
};

class VectorIndexTest : public testing::TestWithParam<DistanceMeasure> {
 protected:
  request::Write WriteOf(const std::string& path, const Item& item) {
    std::vector<std::string> tags;
    for (const std::string& tag : item.tags) tags.push_back(EncodeString(tag));
    return Set(path, MakeFields({{"v", model::EncodeVector(item.vector)},
                                 {"color", EncodeString(item.color)},
                                 {"year", EncodeInteger(item.year)},
                                 {"tags", model::EncodeArray(tags)}}));
  }
  model::Timestamp Put(const std::string& path, Item item) {
    const model::Timestamp time = engine_.MustCommit(WriteOf(path, item));
    items_[path] = std::move(item);
    return time;
  }
  model::Timestamp Remove(const std::string& path) {
    items_.erase(path);
    return engine_.MustCommit(Delete(path));
  }
  Item RandomItem() {
    static const std::vector<std::string> kColors = {"red", "green", "blue"};
    Item item{{}, kColors[random_() % 3], static_cast<int64_t>(random_() % 3), {}};
    for (uint32_t i = 0; i < kDimension; ++i) {
      item.vector.push_back(static_cast<double>(random_() % 5) - 2);
    }
    for (const std::string& color : kColors) {
      if (random_() % 2 == 0) item.tags.push_back(color);
    }
    return item;
  }
  void PutMany(const std::string& collection, size_t count) {
    std::vector<request::Write> writes;
    for (size_t i = 0; i < count; ++i) {
      const std::string path = collection + "/d" + std::to_string(i);
      items_[path] = RandomItem();
      writes.push_back(WriteOf(path, items_[path]));
    }
    engine_.MustCommit(std::move(writes));
  }
  void Declare(std::vector<VectorIndex> vectors) {
    index::IndexConfig config;
    config.vectors = std::move(vectors);
    engine_.engine().SetIndexConfig("(default)", std::move(config));
    engine_.engine().AwaitIndexes();
  }
  query::Query Nearest(size_t limit, std::string collection = "items") {
    return NearestQuery(std::move(collection), {1, 0, -1, 2}, limit, GetParam());
  }

  // The expected results of a search among the items that pass.
  template <typename Predicate>
  std::vector<Near> Expected(const query::Query& query, Predicate passes) {
    std::map<std::string, Components> vectors;
    for (const auto& [path, item] : items_) {
      if (passes(path, item)) vectors[path] = item.vector;
    }
    return ExpectNearest(vectors, *query.nearest);
  }

  // Compares distances by their bits: NaN equals itself.
  static void ExpectSame(const std::vector<Near>& found, const std::vector<Near>& expected,
                         const std::string& what) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].first, expected[i].first) << what << " at " << i;
      EXPECT_TRUE(found[i].second == expected[i].second ||
                  (std::isnan(found[i].second) && std::isnan(expected[i].second)))
          << what << " at " << i << ": " << found[i].second << " for " << expected[i].second;
    }
  }

  // Searches with all kinds of filters and thresholds. Returns the indexes used.
  std::set<std::string> CheckAll(const std::string& when) {
    std::set<std::string> used;
    const auto check = [&](const std::string& what, query::Query query, auto passes) {
      const std::vector<Near> expected = Expected(query, [&](const auto& path, const Item& item) {
        return path.starts_with("items/") && passes(item);
      });
      const NearestAnswer answer = FindNearest(engine_, std::move(query));
      ExpectSame(answer.results, expected, when + ", " + what);
      for (const query::IndexUse& use : answer.indexes) used.insert(use.properties);
    };
    const auto all = [](const Item&) { return true; };
    const auto red = Where("color", Operator::kEqual, EncodeString("red"));
    const auto in = Where("color", Operator::kIn,
                          model::EncodeArray({EncodeString("red"), EncodeString("blue")}));
    for (const size_t limit : {size_t{1}, size_t{7}, size_t{1000}})
      check("all", Nearest(limit), all);
    for (const double threshold : {-1.0, 0.0, 0.5, 2.0, 4.0}) {
      query::Query query = Nearest(20);
      query.nearest->distance_threshold = threshold;
      check("threshold " + std::to_string(threshold), query, all);
    }
    query::Query query = Nearest(10);
    query.where = red;
    check("red", query, [](const Item& item) { return item.color == "red"; });
    query.where = in;
    check("red or blue", query, [](const Item& item) { return item.color != "green"; });
    query.where = Combine(Join::kOr, {red, Where("year", Operator::kEqual, EncodeInteger(1))});
    check("red or of year 1", query,
          [](const Item& item) { return item.color == "red" || item.year == 1; });
    // Only one year is left: an inequality orders ties by its field.
    query.where = Combine(Join::kAnd, {red, Where("year", Operator::kGreater, EncodeInteger(1))});
    check("red and later", query,
          [](const Item& item) { return item.color == "red" && item.year > 1; });
    query.where = Where("tags", Operator::kArrayContains, EncodeString("blue"));
    check("tagged", query, [](const Item& item) {
      return std::find(item.tags.begin(), item.tags.end(), "blue") != item.tags.end();
    });
    return used;
  }

  std::map<std::string, Item> items_;
  std::mt19937_64 random_{7};
  TestEngine engine_;
};

INSTANTIATE_TEST_SUITE_P(Measures, VectorIndexTest,
                         testing::Values(DistanceMeasure::kEuclidean, DistanceMeasure::kCosine,
                                         DistanceMeasure::kDotProduct));

TEST_P(VectorIndexTest, FindsWhatComparingDocumentsFinds) {
  PutMany("items", 150);
  PutMany("others", 20);
  Put("items/zero", {{0, 0, 0, 0}, "red"});  // Without a direction.
  Put("items/other_dimension", {{1, 2}, "red"});
  engine_.MustCommit(Set("items/no_vector", MakeFields({{"v", EncodeInteger(1)}})));
  EXPECT_FALSE(CheckAll("without an index").contains("(__name__ ASC, v VECTOR<4>)"));

  Declare({VectorIndexOf("items", {}),
           VectorIndexOf("items", {{FieldAt("color"), FieldMode::kDescending}}),
           VectorIndexOf("items", {{FieldAt("year"), FieldMode::kAscending}}),
           VectorIndexOf("items", {{FieldAt("tags"), FieldMode::kContains}})});
  const std::set<std::string> used = CheckAll("with indexes");
  EXPECT_TRUE(used.contains("(__name__ ASC, v VECTOR<4>)"));
  EXPECT_TRUE(used.contains("(color ASC, __name__ ASC, v VECTOR<4>)"));
  EXPECT_TRUE(used.contains("(year ASC, __name__ ASC, v VECTOR<4>)"));
  EXPECT_TRUE(used.contains("(tags CONTAINS, __name__ ASC, v VECTOR<4>)"));

  for (int i = 0; i < 60; ++i) Put("items/d" + std::to_string(random_() % 150), RandomItem());
  for (int i = 0; i < 30; ++i) Remove("items/d" + std::to_string(random_() % 150));
  CheckAll("after changes");
  engine_.Restart();
  Declare({VectorIndexOf("items", {})});
  CheckAll("after a restart");
}

TEST_P(VectorIndexTest, ReadsEntriesAndOnlyTheResults) {
  PutMany("items", 150);
  NearestAnswer answer = FindNearest(engine_, Nearest(5));
  EXPECT_EQ(answer.statistics.documents_scanned, 150u);
  EXPECT_EQ(answer.statistics.results_returned, 5u);
  Declare({VectorIndexOf("items", {})});
  answer = FindNearest(engine_, Nearest(5));
  EXPECT_EQ(answer.statistics.index_entries_scanned, 150u);
  EXPECT_EQ(answer.statistics.documents_scanned, 5u);
  EXPECT_EQ(answer.statistics.results_returned, 5u);
}

TEST_P(VectorIndexTest, FindsThePast) {
  PutMany("items", 80);
  Declare({VectorIndexOf("items", {}),
           VectorIndexOf("items", {{FieldAt("color"), FieldMode::kAscending}})});
  const model::Timestamp then = Put("items/d1", RandomItem());
  const std::map<std::string, Item> items_then = items_;
  for (int i = 0; i < 20; ++i) Put("items/d" + std::to_string(random_() % 100), RandomItem());
  for (int i = 0; i < 10; ++i) Remove("items/d" + std::to_string(random_() % 80));

  query::Query query = Nearest(30);
  const std::vector<Near> now = Expected(query, [](const auto&, const Item&) { return true; });
  items_ = items_then;
  const std::vector<Near> past = Expected(query, [](const auto&, const Item&) { return true; });
  ExpectSame(FindNearest(engine_, query).results, now, "now");
  const NearestAnswer answer = FindNearest(engine_, query, then);
  ExpectSame(answer.results, past, "then");
  EXPECT_EQ(answer.indexes[0].properties, "(__name__ ASC, v VECTOR<4>)");
  query.where = Where("color", Operator::kEqual, EncodeString("red"));
  ExpectSame(FindNearest(engine_, query, then).results,
             Expected(query, [](const auto&, const Item& item) { return item.color == "red"; }),
             "then, red");
}

TEST_P(VectorIndexTest, SearchesCollectionGroups) {
  PutMany("items", 40);
  PutMany("shops/a/items", 40);
  PutMany("shops/ab/items", 40);
  PutMany("shops/a/others", 10);
  const auto check = [&](const std::string& when) {
    query::Query query = Nearest(25);
    query.all_descendants = true;
    ExpectSame(
        FindNearest(engine_, query).results,
        Expected(query, [](const std::string& path,
                           const Item&) { return path.find("items/") != std::string::npos; }),
        when + ", all");
    query.parent = Parent("shops/a");
    const NearestAnswer below = FindNearest(engine_, query);
    ExpectSame(below.results,
               Expected(query, [](const std::string& path,
                                  const Item&) { return path.starts_with("shops/a/items/"); }),
               when + ", below a document");
    EXPECT_EQ(below.indexes[0].query_scope, "Collection group");
    query.parent = Parent("shops/ab");
    query.all_descendants = false;
    ExpectSame(FindNearest(engine_, query).results,
               Expected(query, [](const std::string& path,
                                  const Item&) { return path.starts_with("shops/ab/items/"); }),
               when + ", one collection");
  };
  check("without an index");
  Declare({VectorIndexOf("items", {}), VectorIndexOf("items", {}, QueryScope::kCollectionGroup)});
  check("with indexes");
}

TEST_P(VectorIndexTest, EqualsKeepTheOrderOfTheQuery) {
  for (const char* path : {"items/a", "items/b", "items/c"}) Put(path, {{1, 1, 1, 1}, "red", 1});
  Put("items/d", {{1, 1, 1, 1}, "green", 1});
  const auto check = [&](const std::string& when) {
    query::Query query = Nearest(3);
    query.where = Where("color", Operator::kIn,
                        model::EncodeArray({EncodeString("red"), EncodeString("green")}));
    const auto paths = [&] {
      std::vector<std::string> found;
      for (const Near& near : FindNearest(engine_, query).results) found.push_back(near.first);
      return found;
    };
    using Found = std::vector<std::string>;
    EXPECT_EQ(paths(), (Found{"items/a", "items/b", "items/c"})) << when;
    query.orders = {{FieldAt("color"), query::SortDirection::kAscending}};
    EXPECT_EQ(paths(), (Found{"items/d", "items/a", "items/b"})) << when;
    query.orders = {{FieldAt("color"), query::SortDirection::kDescending}};
    EXPECT_EQ(paths(), (Found{"items/c", "items/b", "items/a"})) << when;
    query.orders = {{FieldAt("__name__"), query::SortDirection::kDescending}};
    EXPECT_EQ(paths(), (Found{"items/d", "items/c", "items/b"})) << when;
  };
  check("without an index");
  Declare({VectorIndexOf("items", {{FieldAt("color"), FieldMode::kAscending}})});
  check("with an index");
}

TEST_P(VectorIndexTest, LongValuesAreToldApart) {
  // Longer than the part that an index keeps.
  const std::string base(1'600, 'x');
  Put("items/a", {{1, 1, 1, 1}, base + "1"});
  Put("items/b", {{1, 1, 1, 1}, base + "2"});
  Put("items/c", {{1, 1, 1, 1}, base.substr(0, 1'400)});
  Declare({VectorIndexOf("items", {{FieldAt("color"), FieldMode::kAscending}})});
  query::Query query = Nearest(5);
  query.where = Where("color", Operator::kEqual, EncodeString(base.substr(0, 1'400)));
  const NearestAnswer answer = FindNearest(engine_, query);
  ASSERT_EQ(answer.results.size(), 1u);
  EXPECT_EQ(answer.results[0].first, "items/c");
  EXPECT_EQ(answer.indexes[0].properties, "(color ASC, __name__ ASC, v VECTOR<4>)");
}

TEST_P(VectorIndexTest, AnExpensiveSearchGetsItsIndex) {
  PutMany("items", 400);
  query::Query query = Nearest(5);
  query.where = Where("color", Operator::kEqual, EncodeString("red"));
  const NearestAnswer before = FindNearest(engine_, query);
  engine_.engine().AwaitIndexes();
  const NearestAnswer after = FindNearest(engine_, query);
  ExpectSame(after.results, before.results, "with the index");
  EXPECT_EQ(after.indexes[0].properties, "(color ASC, __name__ ASC, v VECTOR<4>)");
  // No document has this dimension: there is nothing to index.
  query.nearest->query_vector = {1, 2, 3};
  EXPECT_EQ(FindNearest(engine_, query).results.size(), 0u);
  engine_.engine().AwaitIndexes();
  EXPECT_EQ(engine_.engine().Indexes(engine_.database()).size(), 1u);
}

TEST_P(VectorIndexTest, AggregatesCountNeighbours) {
  PutMany("items", 30);
  const auto check = [&](const std::string& when) {
    const std::vector<query::Aggregation> aggregations = {
        {query::Aggregation::Kind::kCount, "n"},
        {query::Aggregation::Kind::kSum, "years", FieldAt("year")}};
    const std::unique_ptr<QueryRun> run =
        *engine_.StartQuery(*query::Normalize(Nearest(7)), request::Now{}, QueryAnswer::kAggregates)
             .Take();
    const Result<std::vector<std::string>> values = run->Aggregate(aggregations);
    ASSERT_TRUE(values.ok());
    int64_t years = 0;
    for (const Near& near : FindNearest(engine_, Nearest(7)).results) {
      years += items_.at(near.first).year;
    }
    EXPECT_EQ(*values, (std::vector<std::string>{EncodeInteger(7), EncodeInteger(years)})) << when;
  };
  check("without an index");
  Declare({VectorIndexOf("items", {})});
  check("with an index");
}

// ---- Approximate indexes.

constexpr uint32_t kGraphDimension = 64;

class VectorGraphTest : public testing::Test {
 protected:
  static EngineOptions Options(const std::string& folder) {
    EngineOptions options;
    options.vectors.folder = folder;
    options.vectors.limits.pending_max = 600;
    return options;
  }

  Components RandomVector() {
    std::normal_distribution<double> normal;
    if (centres_.empty()) {
      for (int i = 0; i < 50; ++i) {
        Components& centre = centres_.emplace_back();
        while (centre.size() < kGraphDimension) centre.push_back(normal(random_));
      }
    }
    Components result = centres_[random_() % centres_.size()];
    for (double& component : result) component += 0.3 * normal(random_);
    return result;
  }

  static std::string PathOf(size_t i) { return "items/d" + std::to_string(i); }
  request::Write WriteOf(const std::string& path) {
    vectors_[path] = RandomVector();
    const std::string color = random_() % 20 == 0 ? "rare" : "common";
    colors_[path] = color;
    return Set(path, MakeFields({{"v", model::EncodeVector(vectors_[path])},
                                 {"color", EncodeString(color)}}));
  }
  void Put(const std::string& path) { engine_->MustCommit(WriteOf(path)); }
  void Remove(const std::string& path) {
    vectors_.erase(path);
    engine_->MustCommit(Delete(path));
  }
  void PutMany(size_t count) {
    std::vector<request::Write> writes;
    for (size_t i = 0; i < count; ++i) {
      writes.push_back(WriteOf(PathOf(i)));
      if (writes.size() == 500 || i + 1 == count) engine_->MustCommit(std::exchange(writes, {}));
    }
  }

  void Declare(std::vector<index::IndexField> prefix = {}, index::HnswOptions options = {}) {
    VectorIndex vector{"items",      QueryScope::kCollection, std::move(prefix),
                       FieldAt("v"), kGraphDimension,         options};
    index::IndexConfig config;
    config.vectors.push_back(std::move(vector));
    engine_->engine().SetIndexConfig("(default)", std::move(config));
    engine_->engine().AwaitIndexes();
  }
  void Reopen() {
    engine_->Restart();
    Declare();
  }
  indexing::VectorGraphStatus Graph() {
    const auto statuses = engine_->engine().VectorGraphStatuses(engine_->database());
    CHECK(statuses.size() == 1);
    return statuses[0];
  }
  query::Query NearestTo(Components to, size_t limit = 10) {
    return NearestQuery("items", std::move(to), limit, DistanceMeasure::kCosine);
  }
  std::vector<Near> Expected(const query::Query& query) {
    return ExpectNearest(vectors_, *query.nearest);
  }

  // Searches, checks that the graph was used and that every distance is that of the current vector,
  // and returns the fraction of the true neighbours that was found.
  double Recall(size_t searches) {
    size_t found = 0;
    size_t wanted = 0;
    const uint64_t before = Graph().searches;
    for (size_t i = 0; i < searches; ++i) {
      const query::Query query = NearestTo(RandomVector());
      std::set<std::string> truth;
      for (const Near& near : Expected(query)) truth.insert(near.first);
      const NearestAnswer answer = FindNearest(*engine_, query);
      EXPECT_EQ(answer.results.size(), 10u);
      EXPECT_LT(answer.statistics.index_entries_scanned, 1'000u);
      for (const Near& near : answer.results) {
        EXPECT_TRUE(vectors_.contains(near.first)) << near.first;
        EXPECT_EQ(near.second, vector::Distance(DistanceMeasure::kCosine,
                                                query.nearest->query_vector, vectors_[near.first]));
        found += truth.count(near.first);
      }
      wanted += truth.size();
    }
    EXPECT_GE(Graph().searches - before, searches);
    return static_cast<double>(found) / static_cast<double>(wanted);
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& file : std::filesystem::directory_iterator(folder_ / "vectors", error)) {
      names.push_back(file.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  // Copies the current files, to restart as if the process had been killed now.
  void CopyFiles() {
    std::filesystem::remove_all(folder_ / "copy");
    std::filesystem::copy(folder_ / "vectors", folder_ / "copy");
  }
  void KillAndReopen() {
    engine_->Close();
    std::filesystem::remove_all(folder_ / "vectors");
    std::filesystem::rename(folder_ / "copy", folder_ / "vectors");
    Reopen();
  }

  storage::TemporaryFolder folder_;
  std::mt19937_64 random_{11};
  std::vector<Components> centres_;
  std::map<std::string, Components> vectors_;
  std::map<std::string, std::string> colors_;
  std::unique_ptr<TestEngine> engine_ = std::make_unique<TestEngine>(Options(folder_ / "vectors"));
};

using GraphOrigin = indexing::VectorGraphUpkeep::Origin;

TEST_F(VectorGraphTest, FindsNearlyAll) {
  PutMany(5'000);
  Declare();
  EXPECT_EQ(Graph().vectors, 5'000u);
  EXPECT_EQ(Graph().origin, GraphOrigin::kBuilt);
  const double recall = Recall(50);
  RecordProperty("recall", std::to_string(recall));
  EXPECT_GE(recall, 0.95);
}

TEST_F(VectorGraphTest, KeepsUpWithWrites) {
  PutMany(2'000);
  Declare();
  for (int i = 0; i < 300; ++i) {
    const std::string path = PathOf(random_() % 2'300);
    if (random_() % 3 == 0) {
      Remove(path);
    } else {
      Put(path);
      // Found immediately, whether or not it is in the graph already.
      const query::Query query = NearestTo(vectors_[path], 1);
      EXPECT_EQ(FindNearest(*engine_, query).results, Expected(query));
    }
  }
  EXPECT_GE(Recall(20), 0.95);
  engine_->engine().AwaitIndexes();
  EXPECT_EQ(Graph().pending, 0u);
  EXPECT_EQ(Graph().vectors, vectors_.size());
  EXPECT_GE(Recall(20), 0.95);
}

TEST_F(VectorGraphTest, FindsThePast) {
  PutMany(1'500);
  Declare();
  const model::Timestamp then = engine_->MustCommit(WriteOf(PathOf(3)));
  const std::map<std::string, Components> vectors_then = vectors_;
  for (size_t i = 0; i < 100; ++i) Remove(PathOf(i));
  for (size_t i = 100; i < 150; ++i) Put(PathOf(i));
  vectors_ = vectors_then;
  size_t same = 0;
  for (size_t i = 0; i < 20; ++i) {
    const query::Query query = NearestTo(vectors_[PathOf(i * 7)]);
    if (FindNearest(*engine_, query, then).results == Expected(query)) ++same;
  }
  EXPECT_GE(same, 18u);
}

TEST_F(VectorGraphTest, RareValuesAreFoundByComparingAll) {
  PutMany(3'000);
  Declare({{FieldAt("color"), FieldMode::kAscending}});
  for (const std::string color : {"rare", "common", "unknown"}) {
    query::Query query = NearestTo(RandomVector());
    query.where = Where("color", Operator::kEqual, EncodeString(color));
    std::map<std::string, Components> passing;
    for (const auto& [path, components] : vectors_) {
      if (colors_[path] == color) passing[path] = components;
    }
    EXPECT_EQ(FindNearest(*engine_, query).results, ExpectNearest(passing, *query.nearest));
  }
}

TEST_F(VectorGraphTest, OtherMeasuresAndThresholdsAreExact) {
  PutMany(1'500);
  Declare();
  query::Query query = NearestTo(RandomVector());
  query.nearest->measure = DistanceMeasure::kEuclidean;
  EXPECT_EQ(FindNearest(*engine_, query).results, Expected(query));
  EXPECT_EQ(Graph().searches, 0u);
  query.nearest->measure = DistanceMeasure::kCosine;
  query.nearest->distance_threshold = Expected(query)[3].second;
  const NearestAnswer answer = FindNearest(*engine_, query);
  EXPECT_EQ(answer.results.size(), 4u);
  EXPECT_EQ(answer.results, Expected(query));
  EXPECT_LT(answer.statistics.index_entries_scanned, 200u);
  // Nothing is near a vector without a direction: all entries are compared.
  query.nearest->distance_threshold.reset();
  query.nearest->query_vector.assign(kGraphDimension, 0);
  EXPECT_EQ(FindNearest(*engine_, query).results.size(), 10u);
}

TEST_F(VectorGraphTest, IsLoadedAfterARestart) {
  PutMany(1'500);
  Declare();
  for (int i = 0; i < 50; ++i) Put(PathOf(random_() % 1'500));
  Reopen();
  EXPECT_EQ(Graph().origin, GraphOrigin::kLoaded);
  EXPECT_EQ(Graph().vectors, 1'500u);
  EXPECT_GE(Recall(10), 0.95);
  for (int i = 0; i < 50; ++i) Put(PathOf(random_() % 1'500));
  EXPECT_GE(Recall(10), 0.95);
}

TEST_F(VectorGraphTest, CatchesUpAfterAKill) {
  PutMany(1'500);
  Declare();
  CopyFiles();
  ASSERT_EQ(Files().size(), 2u);
  for (size_t i = 0; i < 100; ++i) Remove(PathOf(i));
  for (size_t i = 100; i < 200; ++i) Put(PathOf(i));
  for (size_t i = 1'500; i < 1'600; ++i) Put(PathOf(i));
  KillAndReopen();
  EXPECT_EQ(Graph().origin, GraphOrigin::kLoaded);
  EXPECT_EQ(Graph().vectors, vectors_.size());
  EXPECT_GE(Recall(20), 0.95);
}

TEST_F(VectorGraphTest, IsBuiltAnewWhenTheLogIsTooShort) {
  PutMany(1'500);
  Declare();
  CopyFiles();
  for (size_t i = 0; i < 10; ++i) Remove(PathOf(i));
  engine_->Pass(std::chrono::hours(3));
  Put(PathOf(20));
  KillAndReopen();
  EXPECT_EQ(Graph().origin, GraphOrigin::kBuilt);
  EXPECT_EQ(Graph().vectors, vectors_.size());
  EXPECT_GE(Recall(10), 0.95);
}

TEST_F(VectorGraphTest, AQuietGraphStaysLoadable) {
  PutMany(1'500);
  Declare();
  // Others commit for longer than the log is kept.
  for (int i = 0; i < 12; ++i) {
    engine_->MustCommit(SetNumber("others/a", i));
    engine_->Pass(std::chrono::minutes(11));
    engine_->engine().AwaitIndexes();
  }
  CopyFiles();
  engine_->MustCommit(SetNumber("others/a", 99));
  KillAndReopen();
  EXPECT_EQ(Graph().origin, GraphOrigin::kLoaded);
  EXPECT_GE(Recall(5), 0.95);
}

TEST_F(VectorGraphTest, DamagedFilesAreBuiltAnew) {
  PutMany(1'200);
  Declare();
  for (const char* extension : {".graph", ".time"}) {
    engine_->Close();
    for (const std::string& name : Files()) {
      if (!name.ends_with(extension)) continue;
      std::fstream file(folder_ / ("vectors/" + name), std::ios::in | std::ios::out);
      file.seekp(10);
      file.put('\x55');
    }
    Reopen();
    EXPECT_EQ(Graph().origin, GraphOrigin::kBuilt) << extension;
    EXPECT_GE(Recall(5), 0.95);
  }
}

TEST_F(VectorGraphTest, OtherOptionsMakeAnotherGraph) {
  PutMany(1'200);
  Declare();
  index::HnswOptions options;
  options.links = 8;
  Declare({}, options);
  EXPECT_EQ(Graph().vectors, 1'200u);
  EXPECT_EQ(Graph().origin, GraphOrigin::kBuilt);
  EXPECT_GE(Recall(5), 0.9);
}

TEST_F(VectorGraphTest, TooManyChangesAtOnceAreMadeUpFor) {
  PutMany(1'500);
  Declare();
  // More changes than may be pending, in one commit.
  std::vector<request::Write> writes;
  for (size_t i = 0; i < 700; ++i) writes.push_back(WriteOf(PathOf(i)));
  engine_->MustCommit(std::move(writes));
  const query::Query query = NearestTo(vectors_[PathOf(5)]);
  EXPECT_EQ(FindNearest(*engine_, query).results[0], Expected(query)[0]);
  engine_->engine().AwaitIndexes();
  EXPECT_TRUE(Graph().is_complete);
  EXPECT_EQ(Graph().vectors, 1'500u);
  EXPECT_GE(Recall(20), 0.95);
}

TEST_F(VectorGraphTest, AFailedBuildIsTriedAgain) {
  PutMany(1'200);
  index::IndexConfig config;
  config.vectors.push_back(
      {"items", QueryScope::kCollection, {}, FieldAt("v"), kGraphDimension, std::nullopt});
  engine_->engine().SetIndexConfig("(default)", std::move(config));
  engine_->engine().AwaitIndexes();
  engine_->store().FailScan(700, Status(Code::kUnavailable, "the disk is away"));
  Declare();
  EXPECT_FALSE(Graph().is_complete);
  const query::Query query = NearestTo(RandomVector());
  EXPECT_EQ(FindNearest(*engine_, query).results, Expected(query));
  EXPECT_EQ(Graph().searches, 0u);
  engine_->Pass(std::chrono::seconds(6));
  engine_->engine().AwaitIndexes();
  EXPECT_TRUE(Graph().is_complete);
  EXPECT_EQ(Graph().vectors, 1'200u);
  EXPECT_GE(Recall(5), 0.95);
}

TEST_F(VectorGraphTest, GoesWithItsIndexAndItsConfiguration) {
  PutMany(100);
  Declare();
  EXPECT_EQ(Files().size(), 2u);
  engine_->engine().SetIndexConfig("(default)", {});
  engine_->engine().AwaitIndexes();
  EXPECT_TRUE(engine_->engine().VectorGraphStatuses(engine_->database()).empty());
  EXPECT_TRUE(Files().empty());
  // The index itself is kept for now as an on-demand index, which is dropped when unused.
  EXPECT_EQ(engine_->engine().Indexes(engine_->database()).size(), 1u);
  engine_->Pass(std::chrono::hours(24 * 8));
  engine_->engine().AwaitIndexes();
  EXPECT_TRUE(engine_->engine().Indexes(engine_->database()).empty());
}

TEST_F(VectorGraphTest, SearchesBesideWritesSeeOneMoment) {
  PutMany(1'200);
  Declare();
  std::atomic<bool> stopping = false;
  // The writers own their vectors: the test's model is not shared.
  std::vector<request::Write> writes;
  for (int i = 0; i < 200; ++i) writes.push_back(WriteOf(PathOf(random_() % 1'200)));
  std::thread writer([&] {
    for (size_t i = 0; !stopping; i = (i + 1) % writes.size()) {
      engine_->MustCommit(i % 5 == 0 ? Delete(writes[i].path.path()) : writes[i]);
    }
  });
  for (int i = 0; i < 100; ++i) {
    const query::Query query = NearestTo(centres_[static_cast<size_t>(i) % centres_.size()]);
    const NearestAnswer answer = FindNearest(*engine_, query);
    EXPECT_EQ(answer.results.size(), 10u);
    for (size_t k = 0; k < answer.results.size(); ++k) {
      const auto value = model::FindField(model::RecordFields(*answer.records[k]), FieldAt("v"));
      ASSERT_TRUE(value.has_value());
      EXPECT_EQ(answer.results[k].second,
                vector::Distance(DistanceMeasure::kCosine, query.nearest->query_vector,
                                 vector::DecodeVector(*value)));
    }
  }
  stopping = true;
  writer.join();
}

}  // namespace
}  // namespace hearth::engine
