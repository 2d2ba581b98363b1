#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engine/read_view.h"
#include "model/names.h"
#include "query/normalize.h"
#include "query/plan.h"

namespace hearth::engine {

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
  virtual ~QueryRun() = default;

  virtual const Database& database() const = 0;
  virtual model::Timestamp read_time() const = 0;
  // The id of the transaction that this query has started; empty if it has not.
  virtual const std::string& new_transaction() const = 0;
  virtual std::vector<query::IndexUse> indexes_used() const = 0;

  // The next result; nullopt after the last one. May wait for the disk.
  virtual Result<std::optional<QueryResult>> Next() = 0;
  // How many results the offset has skipped so far.
  virtual size_t skipped() const = 0;
  // What has been read so far.
  virtual query::Statistics statistics() const = 0;

  // Runs the aggregations over the query instead of handing out its results: encoded values, one
  // an aggregation. To be called once, and not together with Next.
  virtual Result<std::vector<std::string>> Aggregate(
      const std::vector<query::Aggregation>& aggregations) = 0;

  // Bounds that split the query's results into `points_max` + 1 parts of about the same size, or
  // fewer, in the order of the query. They stand before the documents they name. To be called
  // instead of Next and Aggregate.
  virtual Result<std::vector<query::Bound>> Partition(size_t points_max) = 0;
};

}  // namespace hearth::engine
