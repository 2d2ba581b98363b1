#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/callback.h"
#include "base/memory_budget.h"
#include "base/status.h"
#include "engine/caller.h"
#include "engine/read_scope.h"
#include "model/names.h"
#include "model/timestamp.h"
#include "query/bill.h"
#include "query/explain.h"
#include "query/normalize.h"
#include "request/consistency.h"
#include "request/query_result.h"

namespace hearth::documents {
struct Database;
}

namespace hearth::execution {
class Execution;
struct ExecutionOptions;
struct Plan;
}  // namespace hearth::execution

namespace hearth::indexing {
class VectorGraphs;
}

namespace hearth::engine {

class ReadView;

// A query at an earlier moment handles at most this many documents that have changed since; with
// more of them it runs without indexes.
inline constexpr size_t kChangedDocumentsMax = 10'000;
inline constexpr size_t kPartitionPointsMax = 10'000;

// The kind of answer that a query should give.
enum class QueryAnswer : uint8_t { kDocuments, kAggregates, kPartitions };

struct QueryRequest {
  query::NormalizedQuery query;
  QueryAnswer answer = QueryAnswer::kDocuments;
  request::Consistency consistency = request::Now{};
  Caller caller = {};
};

// What a query will read.
ReadScope ScopeOf(const query::NormalizedQuery& query);

// A query in progress: produces its results on demand. Its memory use is bounded, whatever the size
// of the result.
//
// Threads: one at a time; all functions that may fail may wait for the disk. Ownership: the engine
// must outlive it. Errors: those of the store.
class QueryRun {
 public:
  // Receives the cost of the query, once, when the run ends.
  using CostCallback = Callback<void(const execution::Plan&, const query::Statistics&)>;

  // Plans the query. May wait for the disk.
  static Result<std::unique_ptr<QueryRun>> Start(std::unique_ptr<ReadView> view,
                                                 const indexing::VectorGraphs& graphs,
                                                 query::NormalizedQuery query, QueryAnswer answer,
                                                 execution::ExecutionOptions options,
                                                 CostCallback on_end);
  ~QueryRun();
  QueryRun(const QueryRun&) = delete;
  QueryRun& operator=(const QueryRun&) = delete;

  const documents::Database& database() const;
  const query::NormalizedQuery& query() const { return query_; }
  model::Timestamp read_time() const;
  // The id of the transaction that this query has started; empty if it started none.
  const std::string& new_transaction() const;
  // The indexes that the query uses.
  const std::vector<query::IndexUse>& indexes_used() const;

  // Runs `callback` with the paths of all results after the last one was returned, unless there are
  // more than `results_max`. Call it before the first result is requested.
  using PathsCallback = Callback<void(std::vector<model::DocumentPath>)>;
  void WhenAllRead(size_t results_max, PathsCallback callback);

  // Lets others have their turn; see ReadView::Pause. A run that was not used for a while continues
  // with this.
  Status Pause() const;

  // kDocuments: the next result; nullopt after the last one.
  Result<std::optional<request::QueryResult>> Next();
  // The number of results skipped by the offset so far.
  size_t skipped() const;
  // What has been read so far.
  query::Statistics statistics() const;
  // What Firestore would charge for it.
  query::Bill bill() const;

  // kAggregates: encoded values, one per aggregation. Call it once.
  Result<std::vector<std::string>> Aggregate(const std::vector<query::Aggregation>& aggregations);

  // kPartitions: bounds that split the query's results into `points_max` + 1 parts of about the
  // same size, or fewer, in the order of the query. Each bound is before the document it names.
  // Call it once. ResourceExhausted if there is no memory for a sample of the results.
  Result<std::vector<query::Bound>> Partition(size_t points_max);

 private:
  class ViewSource;

  QueryRun(std::unique_ptr<ReadView> view, query::NormalizedQuery query, QueryAnswer answer,
           MemoryBudget* memory, CostCallback on_end);

  // Null: the results have ended.
  void NotePath(const model::DocumentPath* path);

  const std::unique_ptr<ReadView> view_;
  std::unique_ptr<ViewSource> source_;
  const query::NormalizedQuery query_;
  const QueryAnswer answer_;
  MemoryBudget* const memory_;  // Null: unlimited.
  CostCallback on_end_;
  std::unique_ptr<execution::Execution> execution_;
  PathsCallback when_all_read_;  // Null: not requested, or there were too many.
  size_t noted_paths_max_ = 0;
  std::vector<model::DocumentPath> noted_paths_;
};

}  // namespace hearth::engine
