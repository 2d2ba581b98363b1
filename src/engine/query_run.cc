#include "engine/query_run.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "engine/read_view.h"
#include "engine/read_view_parts.h"
#include "execution/aggregate.h"
#include "execution/execution.h"
#include "indexing/vector_graphs.h"
#include "model/path_encoding.h"

namespace hearth::engine {
namespace {

using execution::Execution;
using execution::Wants;

// Keeps an evenly spread sample of a sequence of unknown length: every n-th item, and every 2n-th
// once there are too many.
class EvenSample {
 public:
  EvenSample(size_t kept_max, MemoryBudget* memory) : kept_max_(kept_max), claim_(memory) {}

  // True if this item should be added.
  bool Wants() { return seen_++ % stride_ == 0; }
  // False if there is no memory for it.
  [[nodiscard]] bool Add(std::string item) {
    bytes_ += BytesOf(item);
    if (!claim_.Reserve(bytes_)) return false;
    kept_.push_back(std::move(item));
    if (kept_.size() < 2 * kept_max_) return true;
    bytes_ = 0;
    for (size_t i = 0; 2 * i < kept_.size(); ++i) {
      kept_[i] = std::move(kept_[2 * i]);
      bytes_ += BytesOf(kept_[i]);
    }
    kept_.resize((kept_.size() + 1) / 2);
    stride_ *= 2;
    return true;
  }

  // At most `count` of them that split the sequence evenly; never its first.
  std::vector<std::string> Split(size_t count) {
    std::vector<std::string> points;
    size_t last = 0;
    for (size_t i = 1; i <= count; ++i) {
      const size_t at = (seen_ * i / (count + 1) + stride_ / 2) / stride_;
      if (at == last || at >= kept_.size()) continue;
      last = at;
      points.push_back(kept_[at]);
    }
    return points;
  }

 private:
  static size_t BytesOf(const std::string& item) { return sizeof(item) + item.size(); }

  const size_t kept_max_;
  size_t seen_ = 0;
  size_t stride_ = 1;
  size_t bytes_ = 0;
  std::vector<std::string> kept_;
  MemoryClaim claim_;
};

// Claims what the keys of changed documents use for as long as a query runs.
Status ClaimChanged(const execution::Source::Changed& changed, MemoryClaim* claim) {
  constexpr size_t kBytesPerNode = 96;
  if (!changed || changed->empty()) return Status();
  size_t bytes = 0;
  for (const std::string& key : *changed) bytes += kBytesPerNode + key.size();
  if (claim->Grow(bytes)) return Status();
  return Status(Code::kResourceExhausted, "the server has no memory for a query of the past");
}

}  // namespace

ReadScope ScopeOf(const query::NormalizedQuery& query) {
  ReadScope scope;
  scope.access = ReadScope::Access::kScans;
  const model::ParentName& parent = query.query.parent;
  if (query.query.collection_id.empty() || query.query.all_descendants) {
    scope.path_prefixes.push_back(model::EncodeSubtreePrefix(parent.document_path));
    scope.collection_id = query.query.collection_id;
  } else if (const Result<model::CollectionPath> collection =
                 parent.Collection(query.query.collection_id);
             collection.ok()) {
    scope.path_prefixes.push_back(model::EncodeCollectionPrefix(*collection));
  }
  return scope;
}

// Presents a view as the source of a query.
class QueryRun::ViewSource final : public execution::Source {
 public:
  static Result<std::unique_ptr<ViewSource>> Open(const ReadView& view,
                                                  const indexing::VectorGraphs& graphs,
                                                  MemoryBudget* memory) {
    MemoryClaim claim(memory);
    ASSIGN_OR_RETURN(Changed changed, view.ChangedDocuments(kChangedDocumentsMax));
    RETURN_IF_ERROR(ClaimChanged(changed, &claim));
    return std::unique_ptr<ViewSource>(
        new ViewSource(view, graphs, std::move(changed), std::move(claim)));
  }

  const model::DatabaseName& database_name() const override { return view_.database().name; }
  model::DatabaseNumber database_number() const override { return view_.database().number; }
  const index::IndexSet& indexes() const override { return *view_.parts().indexes; }
  std::unique_ptr<storage::Cursor> ScanIndexes(storage::KeyRange range,
                                               storage::Direction direction) const override {
    return view_.parts().snapshot->Scan(storage::Space::kIndexes, std::move(range), direction,
                                        &view_.parts().pause);
  }
  Result<std::optional<std::string>> GetIndexEntry(std::string_view key) const override {
    return view_.parts().snapshot->Get(storage::Space::kIndexes, key);
  }
  std::optional<NearEntries> FindNearEntries(const index::Index& index,
                                             const query::FindNearest& wanted,
                                             size_t count) const override {
    return graphs_.Find(index, wanted, {count, view_.read_time()});
  }
  const Changed& changed() const override { return changed_; }
  std::unique_ptr<documents::DocumentCursor> ScanDocuments(storage::KeyRange range) const override {
    return view_.Scan(std::move(range));
  }
  std::unique_ptr<documents::DocumentCursor> ScanDocumentsBackward(
      storage::KeyRange range) const override {
    return view_.ScanBackward(std::move(range));
  }
  Result<model::Record> Get(const model::DocumentPath& path) const override {
    return view_.Get(path);
  }

 private:
  ViewSource(const ReadView& view, const indexing::VectorGraphs& graphs, Changed changed,
             MemoryClaim claim)
      : view_(view), graphs_(graphs), changed_(std::move(changed)), claim_(std::move(claim)) {}

  const ReadView& view_;
  const indexing::VectorGraphs& graphs_;
  const Changed changed_;
  const MemoryClaim claim_;  // For them.
};

QueryRun::QueryRun(std::unique_ptr<ReadView> view, query::NormalizedQuery query, QueryAnswer answer,
                   MemoryBudget* memory, CostCallback on_end)
    : view_(std::move(view)),
      query_(std::move(query)),
      answer_(answer),
      memory_(memory),
      on_end_(std::move(on_end)) {}

QueryRun::~QueryRun() {
  if (execution_ && on_end_) on_end_(execution_->plan(), statistics());
}

Result<std::unique_ptr<QueryRun>> QueryRun::Start(std::unique_ptr<ReadView> view,
                                                  const indexing::VectorGraphs& graphs,
                                                  query::NormalizedQuery query, QueryAnswer answer,
                                                  execution::ExecutionOptions options,
                                                  CostCallback on_end) {
  std::unique_ptr<QueryRun> run(
      new QueryRun(std::move(view), std::move(query), answer, options.memory, std::move(on_end)));
  ASSIGN_OR_RETURN(run->source_, ViewSource::Open(*run->view_, graphs, options.memory));
  // Neighbours are found by their vectors, which only documents have.
  const bool needs_documents = answer == QueryAnswer::kDocuments || run->query_.query.nearest;
  ASSIGN_OR_RETURN(
      run->execution_,
      Execution::Start(*run->source_, run->query_,
                       needs_documents ? Wants::kDocuments : Wants::kKeys, std::move(options)));
  return run;
}

const documents::Database& QueryRun::database() const { return view_->database(); }

model::Timestamp QueryRun::read_time() const { return view_->read_time(); }

const std::string& QueryRun::new_transaction() const { return view_->new_transaction(); }

const std::vector<query::IndexUse>& QueryRun::indexes_used() const {
  return execution_->plan().indexes_used;
}

Status QueryRun::Pause() const { return view_->Pause(); }

size_t QueryRun::skipped() const { return execution_->statistics().results_skipped; }

query::Statistics QueryRun::statistics() const {
  query::Statistics statistics = execution_->statistics();
  // The results were read for the aggregations; the returned result is the set of their values.
  if (answer_ == QueryAnswer::kAggregates) statistics.results_returned = 1;
  return statistics;
}

query::Bill QueryRun::bill() const {
  using query::BilledAnswer;
  return query::BillFor(
      query_,
      answer_ == QueryAnswer::kAggregates ? BilledAnswer::kAggregate : BilledAnswer::kDocuments,
      execution_->statistics());
}

Result<std::optional<request::QueryResult>> QueryRun::Next() {
  CHECK(answer_ == QueryAnswer::kDocuments);
  ASSIGN_OR_RETURN(std::optional<request::QueryResult> found, execution_->Next());
  NotePath(found ? &found->path : nullptr);
  return found;
}

void QueryRun::WhenAllRead(size_t results_max, PathsCallback callback) {
  noted_paths_max_ = results_max;
  when_all_read_ = std::move(callback);
}

void QueryRun::NotePath(const model::DocumentPath* path) {
  if (!when_all_read_) return;
  if (!path) return std::exchange(when_all_read_, nullptr)(std::exchange(noted_paths_, {}));
  noted_paths_.push_back(*path);
  if (noted_paths_.size() <= noted_paths_max_) return;
  when_all_read_ = nullptr;
  noted_paths_.clear();
}

Result<std::vector<std::string>> QueryRun::Aggregate(
    const std::vector<query::Aggregation>& aggregations) {
  CHECK(answer_ == QueryAnswer::kAggregates);
  return execution::Aggregate(execution_.get(), aggregations);
}

Result<std::vector<query::Bound>> QueryRun::Partition(size_t points_max) {
  CHECK(answer_ == QueryAnswer::kPartitions);
  constexpr size_t kSamplesPerPoint = 16;
  points_max = std::min(points_max, kPartitionPointsMax);
  EvenSample sample(kSamplesPerPoint * (points_max + 1), memory_);
  execution::Item item;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, execution_->NextItem(&item));
    if (!found) break;
    if (!sample.Wants()) continue;
    ASSIGN_OR_RETURN(const model::DocumentPath path, PathOf(execution_->layout(), item.key));
    if (!sample.Add(path.path())) {
      return Status(Code::kResourceExhausted, "the server has no memory for so many partitions");
    }
  }
  std::vector<query::Bound> bounds;
  for (const std::string& path : sample.Split(points_max)) {
    const std::string name = view_->database().name.text() + "/documents/" + path;
    bounds.push_back({{model::EncodeReference(name)}, true});
  }
  return bounds;
}

}  // namespace hearth::engine
