// How accurately and how fast the vector index finds nearest neighbors, compared with an exhaustive
// search, with bare hnswlib at the same parameters, and as part of the database.
#include <hnswlib/hnswlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vector/hnsw_index.h"
#include "vector_engine.h"

namespace {

using hearth::model::DistanceMeasure;
using hearth::vector::HnswIndex;
using hearth::vector::HnswOptions;
using hearth::vector::NearestResults;
using SteadyClock = std::chrono::steady_clock;

constexpr size_t kNeighbours = 10;

struct Settings {
  size_t count = 100'000;
  size_t dimension = 768;
  std::string measure = "cosine";
  std::string data = "clustered";
  size_t queries = 200;
  size_t clusters = 1'000;
  uint64_t seed = 1;
  double replaced = 0;  // How often, on average, every vector is replaced after the build.
  bool bare = false;
  std::string folder = {};  // For the database; it is created.
  HnswOptions options = {};
};

double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double ResidentMiB() {
  long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * 4 / 1024;
}

// Points around random centers, as embeddings are distributed; or all components independent, the
// worst case for a graph: in many dimensions all points are about equally far apart.
class Source {
 public:
  explicit Source(const Settings& settings) : settings_(settings), engine_(settings.seed) {
    if (settings.data != "clustered") return;
    for (size_t i = 0; i < settings.clusters; ++i) centres_.push_back(Random(1));
  }

  std::vector<double> Next() {
    if (centres_.empty()) return Uniform();
    const std::vector<double>& centre = centres_[engine_() % centres_.size()];
    std::vector<double> point = Random(0.5);
    for (size_t i = 0; i < point.size(); ++i) point[i] += centre[i];
    return point;
  }

 private:
  std::vector<double> Random(double deviation) {
    std::normal_distribution<double> normal(0, deviation);
    std::vector<double> point(settings_.dimension);
    for (double& component : point) component = normal(engine_);
    return point;
  }
  std::vector<double> Uniform() {
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> point(settings_.dimension);
    for (double& component : point) component = uniform(engine_);
    return point;
  }

  const Settings& settings_;
  std::mt19937_64 engine_;
  std::vector<std::vector<double>> centres_;
};

template <typename T>
T Require(hearth::Result<T> result) {
  if (result.ok()) return *std::move(result);
  std::fprintf(stderr, "vector_recall: %s\n", result.status().ToString().c_str());
  std::exit(EXIT_FAILURE);
}

void Require(const hearth::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "vector_recall: %s\n", status.ToString().c_str());
  std::exit(EXIT_FAILURE);
}

using Points = std::vector<std::vector<float>>;
using Answers = std::vector<std::set<std::string>>;

std::set<std::string> Names(const std::vector<hearth::vector::Neighbour>& neighbours) {
  std::set<std::string> names;
  for (const auto& neighbour : neighbours) names.insert(neighbour.name);
  return names;
}

void Report(const char* what, double seconds, const Answers& answers, const Answers& truth) {
  size_t found = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    for (const std::string& name : answers[i]) found += truth[i].count(name);
  }
  std::printf("%-24s %9.0f queries/s  recall@%zu %.4f\n", what,
              static_cast<double>(answers.size()) / seconds, kNeighbours,
              static_cast<double>(found) / static_cast<double>(truth.size() * kNeighbours));
  std::fflush(stdout);
}

Answers Exact(const Settings& settings, const Points& points, const Points& queries) {
  Answers truth;
  const auto start = SteadyClock::now();
  for (const std::vector<float>& query : queries) {
    NearestResults results({settings.options.measure, kNeighbours, std::nullopt});
    for (size_t i = 0; i < points.size(); ++i) {
      results.Offer(hearth::vector::Distance(settings.options.measure, std::span(query),
                                             std::span(points[i])),
                    std::to_string(i));
    }
    truth.push_back(Names(results.Take()));
  }
  Report("exact", SecondsSince(start), truth, truth);
  return truth;
}

void MeasureSearches(const HnswIndex& index, const Points& queries, const Answers& truth,
                     const std::vector<size_t>& efs) {
  for (const size_t ef : efs) {
    Answers answers;
    double seconds = 0;
    for (const std::vector<float>& query : queries) {
      const std::vector<double> wide(query.begin(), query.end());
      const auto start = SteadyClock::now();
      const auto neighbours = Require(index.Search(wide, {kNeighbours, ef}));
      seconds += SecondsSince(start);
      answers.push_back(Names(neighbours));
    }
    const size_t used = ef == 0 ? index.options().ef_search : ef;
    Report(("index, ef " + std::to_string(used)).c_str(), seconds, answers, truth);
  }
}

std::unique_ptr<HnswIndex> Build(const Settings& settings, const Points& points) {
  const double before = ResidentMiB();
  const auto start = SteadyClock::now();
  auto index = Require(HnswIndex::Create(settings.options));
  for (size_t i = 0; i < points.size(); ++i) {
    Require(index->Put(std::to_string(i), std::vector<double>(points[i].begin(), points[i].end())));
  }
  std::printf("index built in %.1f s, resident %.0f MiB, by its own count %.0f MiB\n",
              SecondsSince(start), ResidentMiB() - before,
              static_cast<double>(index->bytes()) / 1048576);
  std::fflush(stdout);
  return index;
}

void Churn(const Settings& settings, Source& source, Points& points, HnswIndex& index) {
  std::mt19937_64 engine(settings.seed);
  const auto changes = static_cast<size_t>(settings.replaced * static_cast<double>(points.size()));
  const auto start = SteadyClock::now();
  double slowest = 0;
  for (size_t i = 0; i < changes; ++i) {
    const size_t at = engine() % points.size();
    const std::vector<double> point = source.Next();
    points[at].assign(point.begin(), point.end());
    const auto put = SteadyClock::now();
    Require(
        index.Put(std::to_string(at), std::vector<double>(points[at].begin(), points[at].end())));
    slowest = std::max(slowest, SecondsSince(put));
  }
  std::printf("%zu vectors replaced in %.1f s, the slowest in %.1f ms\n", changes,
              SecondsSince(start), slowest * 1e3);
}

// Bare hnswlib with its own distance functions.
void MeasureBare(const Settings& settings, const Points& points, const Points& queries,
                 const Answers& truth) {
  std::unique_ptr<hnswlib::SpaceInterface<float>> space;
  if (settings.options.measure == DistanceMeasure::kEuclidean) {
    space = std::make_unique<hnswlib::L2Space>(settings.dimension);
  } else {
    space = std::make_unique<hnswlib::InnerProductSpace>(settings.dimension);
  }
  const auto normalised = [&](std::vector<float> point) {
    if (settings.options.measure != DistanceMeasure::kCosine) return point;
    double sum = 0;
    for (const float component : point) sum += static_cast<double>(component) * component;
    for (float& component : point) component /= static_cast<float>(std::sqrt(sum));
    return point;
  };
  auto start = SteadyClock::now();
  hnswlib::HierarchicalNSW<float> bare(space.get(), points.size(), settings.options.m,
                                       settings.options.ef_construction);
  for (size_t i = 0; i < points.size(); ++i) bare.addPoint(normalised(points[i]).data(), i);
  std::printf("bare hnswlib built in %.1f s\n", SecondsSince(start));
  bare.setEf(settings.options.ef_search);
  Answers answers;
  double seconds = 0;
  for (const std::vector<float>& query : queries) {
    const std::vector<float> point = normalised(query);
    start = SteadyClock::now();
    auto found = bare.searchKnn(point.data(), kNeighbours);
    seconds += SecondsSince(start);
    for (answers.emplace_back(); !found.empty(); found.pop()) {
      answers.back().insert(std::to_string(found.top().second));
    }
  }
  const std::string label = "bare hnswlib, ef " + std::to_string(settings.options.ef_search);
  Report(label.c_str(), seconds, answers, truth);
}

// The same vectors as documents in a database. Speeds are based on processor time.
void MeasureEngine(const Settings& settings, const Points& points, const Points& queries,
                   const Answers& truth) {
  using hearth::bench::VectorEngine;
  VectorEngine engine(settings.folder, settings.options);
  const auto timed = [](const char* what, const auto& work) {
    const auto start = SteadyClock::now();
    work();
    std::printf("%s in %.1f s, resident %.0f MiB\n", what, SecondsSince(start), ResidentMiB());
    std::fflush(stdout);
  };
  const auto search = [&](const char* what) {
    Answers answers;
    double seconds = 0;
    for (const auto& query : queries)
      answers.push_back(engine.Search(query, kNeighbours, &seconds));
    Report(what, seconds, answers, truth);
  };
  using Kind = VectorEngine::Kind;
  timed("documents written", [&] { engine.Fill(points); });
  timed("flat index built", [&] { engine.Declare(Kind::kFlat); });
  search("engine, flat");
  timed("graph built", [&] { engine.Declare(Kind::kHnsw); });
  search("engine, hnsw");
  timed("closed and opened", [&] { engine.Restart(Kind::kHnsw); });
  search("engine, hnsw, loaded");
}

void Run(Settings& settings) {
  settings.options.dimension = settings.dimension;
  settings.options.measure = settings.measure == "euclidean" ? DistanceMeasure::kEuclidean
                             : settings.measure == "cosine"  ? DistanceMeasure::kCosine
                                                             : DistanceMeasure::kDotProduct;
  std::printf("%zu x %zu, %s, %s, m %zu, ef_construction %zu\n", settings.count, settings.dimension,
              settings.measure.c_str(), settings.data.c_str(), settings.options.m,
              settings.options.ef_construction);
  Source source(settings);
  const auto take = [&source](size_t count) {
    Points points;
    for (size_t i = 0; i < count; ++i) {
      const std::vector<double> point = source.Next();
      points.emplace_back(point.begin(), point.end());
    }
    return points;
  };
  Points points = take(settings.count);
  const Points queries = take(settings.queries);
  if (!settings.folder.empty()) {
    const Answers truth = Exact(settings, points, queries);
    return MeasureEngine(settings, points, queries, truth);
  }
  const auto index = Build(settings, points);
  if (settings.replaced > 0) Churn(settings, source, points, *index);
  const Answers truth = Exact(settings, points, queries);
  MeasureSearches(*index, queries, truth, {0, 50, 200, 400, 800});
  if (!settings.bare) return;
  MeasureBare(settings, points, queries, truth);
  // Repeated right after it, because other work on the machine changes within minutes.
  MeasureSearches(*index, queries, truth, {0});
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures the vector index: recall, speed and memory.");
  Settings settings;
  app.add_option("--count", settings.count)->capture_default_str();
  app.add_option("--dimension", settings.dimension)->capture_default_str();
  app.add_option("--measure", settings.measure)
      ->check(CLI::IsMember({"euclidean", "cosine", "dot"}))
      ->capture_default_str();
  app.add_option("--data", settings.data)
      ->check(CLI::IsMember({"clustered", "uniform"}))
      ->capture_default_str();
  app.add_option("--clusters", settings.clusters)->capture_default_str();
  app.add_option("--queries", settings.queries)->capture_default_str();
  app.add_option("--seed", settings.seed)->capture_default_str();
  app.add_option("--m", settings.options.m)->capture_default_str();
  app.add_option("--ef-construction", settings.options.ef_construction)->capture_default_str();
  app.add_option("--ef-search", settings.options.ef_search)->capture_default_str();
  app.add_option("--replaced", settings.replaced, "Replacements per vector after the build")
      ->capture_default_str();
  app.add_option(
      "--engine", settings.folder,
      "Measure the vectors as documents of a database in this folder, which must be new");
  app.add_flag("--bare", settings.bare, "Build and measure bare hnswlib too");
  CLI11_PARSE(app, argc, argv);
  Run(settings);
  return EXIT_SUCCESS;
}
