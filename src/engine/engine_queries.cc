// Queries, and the indexes that follow from what they cost.
#include <algorithm>
#include <thread>
#include <utility>

#include "base/log.h"
#include "engine/engine.h"
#include "query/required_index.h"

namespace hearth::engine {

namespace {

// A transaction's query with more results than this keeps its whole collection locked.
constexpr size_t kNarrowedResultsMax = 1'000;

// True when much more was read than the results explain.
bool IsExpensive(const query::Statistics& statistics, uint64_t allowed) {
  constexpr uint64_t kReadsPerResult = 4;
  const uint64_t explained = kReadsPerResult * statistics.results_returned;
  return statistics.documents_scanned + statistics.index_entries_scanned > allowed + explained;
}

}  // namespace

using index::Definition;

Result<query::Execution::Options> Engine::PrepareQuery(const Database& database,
                                                       const query::NormalizedQuery& query) {
  // First, because a query that is refused needs its index all the more.
  needed_indexes_.Note(database.number, query);
  query::Execution::Options options;
  if (options_.index_mode == IndexMode::kStrict) {
    options.documents_max = options_.scanned_documents_max;
    RETURN_IF_ERROR(query::CheckIndexes(query, *index_policy_.Of(database)));
  }
  return options;
}

Status Engine::CheckListener(const Database& database, const query::NormalizedQuery& query) {
  if (options_.index_mode == IndexMode::kStrict) RETURN_IF_ERROR(query::CheckListener(query));
  return PrepareQuery(database, query).status();
}

Result<std::unique_ptr<QueryRun>> Engine::StartQuery(const Database& database,
                                                     std::unique_ptr<ReadView> view,
                                                     query::NormalizedQuery query,
                                                     const query::Execution::Options& options) {
  return QueryRun::Start(
      std::move(view), vector_graphs_, std::move(query), options,
      [this, &database](const query::Plan& plan, const query::Statistics& statistics) {
        NoteCost(database, plan, statistics);
      });
}

void Engine::Query(Database& database, query::NormalizedQuery query, const Consistency& consistency,
                   QueryCallback done) {
  const Result<query::Execution::Options> prepared = PrepareQuery(database, query);
  if (!prepared.ok()) return done(prepared.status());
  const query::Execution::Options options = *prepared;
  const ReadScope scope = ScopeOf(query);
  const std::thread::id caller = std::this_thread::get_id();
  // std::function wants copyable captures.
  auto shared_query = std::make_shared<query::NormalizedQuery>(std::move(query));
  Read(database, consistency, scope,
       [this, &database, caller, scope, shared_query, options,
        done = std::move(done)](Result<std::unique_ptr<ReadView>> opened) {
         if (!opened.ok()) return done(opened.status());
         auto view = std::make_shared<std::unique_ptr<ReadView>>(*std::move(opened));
         const auto start = [this, &database, view, scope, shared_query, options, done] {
           const std::optional<LockOwner> locked_by = (*view)->locked_by();
           Result<std::unique_ptr<QueryRun>> run =
               StartQuery(database, std::move(*view), std::move(*shared_query), options);
           const LockScope locked = ToLockScope(database, scope);
           if (run.ok() && locked_by && locked.key_prefixes.size() == 1) {
             NarrowLocksAfter(**run, *locked_by, locked.key_prefixes[0]);
           }
           done(std::move(run));
         };
         if (std::this_thread::get_id() == caller) return start();
         // Granted late, on a thread that must not wait for the disk.
         if (const Status accepted = RunBlocking(start); !accepted.ok()) done(accepted);
       });
}

void Engine::NarrowLocksAfter(QueryRun& run, LockOwner owner, const KeyPrefix& locked) {
  const query::Query& query = run.query().query;
  // What these skip, or compare, counts too, though it is no result.
  if (query.offset > 0 || query.nearest) return;
  auto live = std::make_shared<const watch::LiveQuery>(run.database().name, run.query());
  run.WhenAllRead(kNarrowedResultsMax, [this, owner, locked, live, &database = run.database()](
                                           const std::vector<model::DocumentPath>& paths) {
    std::vector<std::string> keys;
    keys.reserve(paths.size());
    for (const model::DocumentPath& path : paths) {
      keys.push_back(DocumentKey(database.number, path));
    }
    locks_.Narrow(owner, locked, live, std::move(keys));
  });
}

void Engine::NoteCost(const Database& database, const query::Plan& plan,
                      const query::Statistics& statistics) {
  const int64_t now = clock_.WallMicros();
  for (const query::ConjunctionPlan& conjunction : plan.conjunctions) {
    for (const query::ScannedIndex& scanned : conjunction.scan.indexes) {
      scanned.index->activity->used_at_micros = now;
    }
  }
  for (const query::VectorScan& scan : plan.vectors) scan.index->activity->used_at_micros = now;
  if (!IsExpensive(statistics, options_.reads_without_index_max)) return;
  const std::vector<Definition>& wanted =
      plan.missing.empty() ? plan.alternatives_to_joins : plan.missing;
  if (wanted.empty()) return;
  if (statistics.documents_scanned > options_.scanned_documents_max) {
    Log(LogLevel::kWarning, "a query without a fitting index has read many documents",
        {{"database", database.name.text()},
         {"collection", wanted[0].collection_id},
         {"index", index::Properties(wanted[0])},
         {"documents", statistics.documents_scanned}});
  }
  if (!database.is_on_disk) return;
  const std::shared_ptr<const index::IndexConfig> config = index_policy_.Of(database);
  for (const Definition& definition : wanted) {
    const bool may_be_made = std::all_of(
        definition.fields.begin(), definition.fields.end(), [&](const index::IndexField& field) {
          return query::MayBeIndexed(definition.collection_id, field.path, *config);
        });
    // Vectors that nothing has, of another dimension say, need no index.
    const bool is_of_use = !definition.vector || statistics.results_returned > 0;
    if (may_be_made && is_of_use) {
      index_keeper_->Want(database.number, definition, index::Origin::kOnDemand);
    }
  }
}

}  // namespace hearth::engine
