#include "vector_engine.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/waiting_executor.h"
#include "engine/options.h"
#include "engine/query_run.h"
#include "index/index_config.h"
#include "model/fields.h"
#include "query/normalize.h"
#include "storage/rocksdb_store.h"

namespace hearth::bench {
namespace {

constexpr size_t kWritesPerCommit = 100;
constexpr const char* kCollection = "points";

template <typename T>
T Require(Result<T> result) {
  if (result.ok()) return *std::move(result);
  std::fprintf(stderr, "vector_recall: %s\n", result.status().ToString().c_str());
  std::exit(EXIT_FAILURE);
}

request::Write WriteOf(size_t id, const std::vector<float>& point) {
  std::string fields;
  model::AppendField(model::MapView::Tag::kDocument, "v",
                     model::EncodeVector({point.begin(), point.end()}), &fields);
  return {Require(model::DocumentPath::Parse(std::string(kCollection) + "/" + std::to_string(id))),
          request::WriteKind::kUpdate,
          Require(model::Fields::Validate(fields)),
          std::nullopt,
          {},
          {}};
}

// Processor time of this thread, which does all of a search, so that other work on the machine does
// not count.
double ThreadSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

VectorEngine::VectorEngine(const std::string& folder, const vector::HnswOptions& options)
    : folder_(folder), options_(options) {
  Open();
}

VectorEngine::~VectorEngine() { engine_.reset(); }

void VectorEngine::Open() {
  storage::RocksDbOptions storage;
  storage.path = folder_;
  store_ = Require(storage::OpenRocksDbStore(storage));
  engine::EngineOptions options;
  options.vectors.folder = folder_ + "/vectors";
  engine_ = Require(engine::Engine::Open(*store_, clock_, random_, options));
  database_ = engine_->OpenDatabase(
      Require(model::DatabaseName::Parse("projects/bench/databases/(default)")));
}

void VectorEngine::Fill(const std::vector<std::vector<float>>& points) {
  for (size_t begin = 0; begin < points.size(); begin += kWritesPerCommit) {
    std::vector<request::Write> writes;
    for (size_t i = begin; i < std::min(begin + kWritesPerCommit, points.size()); ++i) {
      writes.push_back(WriteOf(i, points[i]));
    }
    Require(Await<Result<request::CommitResult>>([&](Executor& here, auto done) {
      engine_->Commit(*database_, std::move(writes), "", here, std::move(done));
    }));
  }
}

void VectorEngine::Declare(Kind kind) {
  index::VectorIndex vector{kCollection,
                            index::QueryScope::kCollection,
                            {},
                            Require(model::FieldPath::Parse("v")),
                            static_cast<uint32_t>(options_.dimension),
                            std::nullopt};
  if (kind == Kind::kHnsw) {
    vector.hnsw = index::HnswOptions{static_cast<uint32_t>(options_.m),
                                     static_cast<uint32_t>(options_.ef_construction),
                                     static_cast<uint32_t>(options_.ef_search), options_.measure};
  }
  index::IndexConfig config;
  config.vectors.push_back(std::move(vector));
  engine_->SetIndexConfig("(default)", std::move(config));
  engine_->AwaitIndexes();
}

void VectorEngine::Restart(Kind kind) {
  engine_.reset();
  store_.reset();
  Open();
  Declare(kind);
}

std::set<std::string> VectorEngine::Search(const std::vector<float>& point, size_t limit,
                                           double* seconds) {
  const double start = ThreadSeconds();
  query::Query query{Require(model::ParentName::Parse(database_->name.text() + "/documents")),
                     kCollection};
  query.nearest = query::FindNearest{
      Require(model::FieldPath::Parse("v")), {point.begin(), point.end()}, options_.measure, limit};
  engine::QueryRequest request{Require(query::Normalize(std::move(query)))};
  const std::unique_ptr<engine::QueryRun> run =
      Require(Await<Result<std::unique_ptr<engine::QueryRun>>>([&](Executor& here, auto done) {
        engine_->Query(*database_, std::move(request), here, std::move(done));
      }));
  std::set<std::string> ids;
  while (auto result = Require(run->Next())) ids.emplace(result->path.id());
  *seconds += ThreadSeconds() - start;
  return ids;
}

}  // namespace hearth::bench
