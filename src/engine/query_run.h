#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engine/read_scope.h"
#include "engine/read_view.h"
#include "engine/vector_graphs.h"
#include "model/names.h"
#include "query/bill.h"
#include "query/execution.h"
#include "query/normalize.h"
#include "query/plan.h"

namespace hearth::engine {

// A query that reads at an earlier moment goes through at most so many documents that have changed
// since; with more of them it does without indexes.
inline constexpr size_t kChangedDocumentsMax = 10'000;
inline constexpr size_t kPartitionPointsMax = 10'000;

// What a query will read.
ReadScope ScopeOf(const query::NormalizedQuery& query);

// One result of a query.
struct QueryResult {
  model::DocumentPath path;
  Record record;                   // Never null.
  std::optional<double> distance;  // Of nearest neighbours.
};

// A query under way: hands out results one by one, in order, as they are asked for. What it holds
// in memory is bounded, whatever the size of the result.
//
// Threads: one at a time. Ownership: the engine must outlive it. Errors: those of the store.
class QueryRun {
 public:
  // Hears what the query has cost, once, when the run ends.
  using CostCallback = std::function<void(const query::Plan&, const query::Statistics&)>;

  static Result<std::unique_ptr<QueryRun>> Start(std::unique_ptr<ReadView> view,
                                                 const VectorGraphs& graphs,
                                                 query::NormalizedQuery query,
                                                 query::Execution::Options options,
                                                 CostCallback on_end);
  ~QueryRun();
  QueryRun(const QueryRun&) = delete;
  QueryRun& operator=(const QueryRun&) = delete;

  const Database& database() const { return view_->database(); }
  const query::NormalizedQuery& query() const { return query_; }
  model::Timestamp read_time() const { return view_->read_time(); }
  // The id of the transaction that this query has started; empty if it has not.
  const std::string& new_transaction() const { return view_->new_transaction(); }

  // Has long scans end with Cancelled once `is_cancelled` says so. To be called before the first
  // result is asked for.
  void CancelWhen(std::function<bool()> is_cancelled) {
    options_.is_cancelled = std::move(is_cancelled);
  }

  // Has `callback` run with the paths of all results once the last one was handed out, unless
  // there are more than `results_max`. To be called before the first result is asked for.
  using PathsCallback = std::function<void(std::vector<model::DocumentPath>)>;
  void WhenAllRead(size_t results_max, PathsCallback callback);

  // How the query is answered. May wait for the disk.
  Result<std::vector<query::IndexUse>> IndexesUsed(query::Execution::Wants wants);

  // The next result; nullopt after the last one. May wait for the disk.
  Result<std::optional<QueryResult>> Next();
  // How many results the offset has skipped so far.
  size_t skipped() const { return execution_ ? execution_->statistics().results_skipped : 0; }
  // What has been read so far.
  query::Statistics statistics() const;
  // What Firestore would charge for that.
  query::Bill bill() const;

  // Runs the aggregations over the query instead of handing out its results: encoded values, one
  // an aggregation. To be called once, and not together with Next.
  Result<std::vector<std::string>> Aggregate(const std::vector<query::Aggregation>& aggregations);

  // Bounds that split the query's results into `points_max` + 1 parts of about the same size, or
  // fewer, in the order of the query. They stand before the documents they name. To be called
  // instead of Next and Aggregate.
  Result<std::vector<query::Bound>> Partition(size_t points_max);

 private:
  class ViewSource;

  QueryRun(std::unique_ptr<ReadView> view, query::NormalizedQuery query,
           query::Execution::Options options, CostCallback on_end);

  void NotePath(const model::DocumentPath* path);
  // Plans the query, unless that is done already.
  Status Prepare(query::Execution::Wants wants);

  std::unique_ptr<ReadView> view_;
  std::unique_ptr<ViewSource> source_;
  const query::NormalizedQuery query_;
  query::Execution::Options options_;
  const CostCallback on_end_;
  std::unique_ptr<query::Execution> execution_;
  bool is_aggregated_ = false;
  PathsCallback when_all_read_;  // Null: nobody wants to know, or there were too many.
  size_t noted_paths_max_ = 0;
  std::vector<model::DocumentPath> noted_paths_;
};

}  // namespace hearth::engine
