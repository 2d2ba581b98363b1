// Queries, and the indexes created because of their cost.
#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "engine/core.h"
#include "execution/required_index.h"
#include "watch/live_query.h"

namespace hearth::engine {
namespace {

// A transaction's query with more results than this keeps its whole collection locked.
constexpr size_t kNarrowedResultsMax = 1'000;

// Records for the indexes that a query used what they have saved it: the difference to what was
// read before they existed, or else to all documents of the index.
void NoteUses(const execution::Plan& plan, uint64_t reads, int64_t now_micros) {
  std::set<index::Activity*> used;
  for (const execution::ConjunctionPlan& conjunction : plan.conjunctions) {
    for (const execution::ScannedIndex& scanned : conjunction.scan.indexes) {
      used.insert(scanned.index->activity.get());
    }
  }
  for (const execution::VectorScan& scan : plan.vectors) used.insert(scan.index->activity.get());
  for (index::Activity* activity : used) {
    const uint64_t known = activity->reads_without;
    const uint64_t without = known > 0 ? known : activity->documents_indexed.load();
    activity->used_at_micros = now_micros;
    ++activity->uses;
    // Indexes that a query joins share what they save.
    activity->reads_saved += (without - std::min(without, reads)) / used.size();
  }
}

// True if much more was read than the results explain.
bool IsExpensive(const query::Statistics& statistics, uint64_t allowed) {
  constexpr uint64_t kReadsPerResult = 4;
  const uint64_t explained = kReadsPerResult * statistics.results_returned;
  return statistics.documents_scanned + statistics.index_entries_scanned > allowed + explained;
}

}  // namespace

using documents::Database;
using execution::ExecutionOptions;
using index::Definition;
using Run = Result<std::unique_ptr<QueryRun>>;

Result<ExecutionOptions> Engine::Core::PrepareQuery(const Database& database,
                                                    const query::NormalizedQuery& query) {
  // First, because a refused query needs its index most.
  needed_indexes_.Note(database.number, query);
  ExecutionOptions options;
  options.memory = options_.memory;
  if (options_.index_mode == indexing::IndexMode::kStrict) {
    options.documents_max = options_.scanned_documents_max;
    RETURN_IF_ERROR(execution::CheckIndexes(query, *index_policy_.Of(database)));
  }
  return options;
}

PauseFunction Engine::Core::PauseUnless(std::stop_token left) {
  return [this, left = std::move(left)]() -> Status {
    if (left.stop_requested()) return Status(Code::kCancelled, "the caller has left");
    return readers_.Pause(left);
  };
}

Run Engine::Core::StartQuery(std::unique_ptr<ReadView> view, query::NormalizedQuery query,
                             QueryAnswer answer, ExecutionOptions options) {
  const Database& database = view->database();
  const std::optional<transactions::LockOwner> locked_by = view->parts().locked_by;
  options.pause = [view = view.get()] { return view->Pause(); };  // The run keeps it.
  ASSIGN_OR_RETURN(
      std::unique_ptr<QueryRun> run,
      QueryRun::Start(
          std::move(view), vector_graphs_, std::move(query), answer, std::move(options),
          [this, &database](const execution::Plan& plan, const query::Statistics& statistics) {
            NoteCost(database, plan, statistics);
          }));
  counters_.queries.Add();
  if (locked_by) {
    const transactions::LockScope locked = ToLockScope(database, ScopeOf(run->query()));
    if (locked.key_prefixes.size() == 1) NarrowLocksAfter(*run, *locked_by, locked.key_prefixes[0]);
  }
  return run;
}

void Engine::Core::Query(const Database& database, QueryRequest request, Executor& executor,
                         QueryCallback done) {
  const bool goes_on_here = &executor == &readers_;
  // Shared by the steps that lead to the answer.
  struct Starting {
    documents::ConstDatabaseHandle database;
    QueryRequest request;
    QueryCallback deliver;
  };
  auto starting = std::make_shared<Starting>(
      Starting{database.shared_from_this(), std::move(request),
               [&executor, goes_on_here, done = std::move(done)](Run run) mutable {
                 if (goes_on_here)
                   return done(std::move(run));  // On a reader, after the call has returned.
                 executor.Post([done = std::move(done), run = std::move(run)]() mutable {
                   done(std::move(run));
                 });
               }});
  const Status accepted = readers_.TryPost(starting->request.caller.client, [this, starting] {
    const query::NormalizedQuery& query = starting->request.query;
    Result<ExecutionOptions> options = PrepareQuery(*starting->database, query);
    if (!options.ok()) return starting->deliver(options.status());
    PauseFunction pause = PauseUnless(starting->request.caller.left);
    // The client may have left while this waited for its turn.
    if (Status status = pause(); !status.ok()) return starting->deliver(status);
    OpeningView opening{starting->database, ScopeOf(query), {}, starting->request.caller};
    opening.parts.pause = std::move(pause);
    opening.done = [this, starting,
                    options = *std::move(options)](Result<std::unique_ptr<ReadView>> view) mutable {
      if (!view.ok()) return starting->deliver(view.status());
      starting->deliver(StartQuery(*std::move(view), std::move(starting->request.query),
                                   starting->request.answer, std::move(options)));
    };
    OpenView(starting->request.consistency, std::move(opening));
  });
  if (!accepted.ok()) executor.Post([starting, accepted] { starting->deliver(accepted); });
}

Run Engine::Core::QueryAt(const Database& database, query::NormalizedQuery query,
                          QueryAnswer answer, model::Timestamp read_time, PauseFunction pause) {
  ASSIGN_OR_RETURN(ExecutionOptions options, PrepareQuery(database, query));
  ASSIGN_OR_RETURN(std::unique_ptr<ReadView> view,
                   ViewAtSettled(database, read_time, std::move(pause)));
  return StartQuery(std::move(view), std::move(query), answer, std::move(options));
}

void Engine::Core::NarrowLocksAfter(QueryRun& run, const transactions::LockOwner& owner,
                                    const transactions::KeyPrefix& locked) {
  const query::Query& query = run.query().query;
  // Documents that these skip or compare also matter, though they are not results.
  if (query.offset > 0 || query.nearest) return;
  auto live = std::make_shared<const watch::LiveQuery>(run.database().name, run.query());
  run.WhenAllRead(kNarrowedResultsMax, [this, owner, locked, live, &database = run.database()](
                                           const std::vector<model::DocumentPath>& paths) {
    std::vector<std::string> keys;
    keys.reserve(paths.size());
    for (const model::DocumentPath& path : paths) {
      keys.push_back(model::DocumentKey(database.number, path));
    }
    locks_.Narrow(owner, locked, live, std::move(keys));
  });
}

void Engine::Core::NoteCost(const documents::Database& database, const execution::Plan& plan,
                            const query::Statistics& statistics) {
  const int64_t now = clock_.WallMicros();
  const uint64_t reads = statistics.documents_scanned + statistics.index_entries_scanned;
  NoteUses(plan, reads, now);
  if (!IsExpensive(statistics, options_.reads_without_index_max)) return;
  const std::vector<Definition>& wanted =
      plan.missing.empty() ? plan.alternatives_to_joins : plan.missing;
  if (wanted.empty()) return;
  if (statistics.documents_scanned > options_.scanned_documents_max) {
    Log(LogLevel::kWarning, "a query without a matching index read many documents",
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
          return execution::MayBeIndexed(definition.collection_id, field.path, *config);
        });
    // Vectors that no document has, for example of another dimension, need no index.
    const bool is_of_use = !definition.vector || statistics.results_returned > 0;
    if (!may_be_made || !is_of_use) continue;
    indexing::IndexWish wish{database.number, definition};
    wish.reads_in_vain = reads - std::min(reads, statistics.results_returned);
    if (const auto shared = plan.shared_forms.find(definition); shared != plan.shared_forms.end()) {
      wish.shared = shared->second;
    }
    index_keeper_->Wish(database, wish);
  }
}

}  // namespace hearth::engine
