#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/memory_budget.h"
#include "base/pause.h"
#include "base/status.h"
#include "execution/planner.h"
#include "execution/source.h"
#include "request/query_result.h"

namespace hearth::execution {

// What a query returns.
enum class Wants : uint8_t { kDocuments, kKeys };

struct ExecutionOptions {
  // Limit on the documents that are examined without an index.
  size_t documents_max = std::numeric_limits<size_t>::max();
  PauseFunction pause = {};
  MemoryBudget* memory = nullptr;  // For sorts, and for what was counted. Null: unlimited.
};

// A running query: results are pulled one at a time.
//
// Threads: one at a time. Ownership: borrows the source; owns everything else. Memory is bounded
// whatever the size of the result. Errors: those of the source.
class Execution {
 public:
  static Result<std::unique_ptr<Execution>> Start(const Source& source,
                                                  query::NormalizedQuery query, Wants wants,
                                                  ExecutionOptions options);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // The next result, within offset and limit; nullopt after the last one.
  Result<std::optional<request::QueryResult>> Next();
  // The same as an item, which may lack its record.
  Result<bool> NextItem(Item* item);

  const query::NormalizedQuery& query() const { return query_; }
  const Layout& layout() const { return layout_; }
  const Plan& plan() const { return plan_; }
  const query::Statistics& statistics() const { return tally_.statistics(); }
  // The document of an item that has no record; never null.
  Result<model::Record> Read(const model::DocumentPath& path, const Item& item);

 private:
  Execution(const Source& source, query::NormalizedQuery query, ExecutionOptions options);

  // As Context::Pause.
  Status Pause(size_t bytes = 0);

  const Source& source_;
  const query::NormalizedQuery query_;
  const Layout layout_;
  const ExecutionOptions options_;
  Tally tally_;
  Plan plan_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace hearth::execution
