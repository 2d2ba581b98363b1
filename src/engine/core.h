#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/pause.h"
#include "base/random.h"
#include "base/turn_pool.h"
#include "commit/commits_under_way.h"
#include "commit/committer.h"
#include "documents/catalog.h"
#include "documents/commit_clock.h"
#include "documents/document_cache.h"
#include "documents/document_reader.h"
#include "engine/database_remover.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "engine/read_view_parts.h"
#include "execution/execution.h"
#include "expiry/ttl_policies.h"
#include "expiry/ttl_sweeper.h"
#include "index/index_config.h"
#include "indexing/index_keeper.h"
#include "indexing/index_policy.h"
#include "indexing/index_registry.h"
#include "indexing/needed_indexes.h"
#include "indexing/vector_graphs.h"
#include "storage/store.h"
#include "transactions/lock_table.h"
#include "transactions/transactions.h"
#include "watch/change_feed.h"
#include "watch/reader.h"

namespace hearth::engine {

transactions::LockScope ToLockScope(const documents::Database& database, const ReadScope& scope);

// The engine's own counters. All other metrics are read from its parts on demand.
struct EngineCounters {
  explicit EngineCounters(Metrics& metrics);

  Counter& commits;
  Counter& commit_errors;
  Counter& queries;
};

// The engine's parts, and how they work together. engine.h documents the public functions.
//
// Threads: safe for concurrent use.
class Engine::Core final : public watch::Reader {
 public:
  static Result<std::unique_ptr<Core>> Open(storage::Store& store, const Clock& clock,
                                            RandomSource& random, const EngineOptions& options);
  ~Core() override;

  // ---- Reading.
  void Read(const documents::Database& database, const request::Consistency& consistency,
            const ReadScope& scope, Executor& executor, ReadCallback done, Caller caller);
  std::unique_ptr<ReadView> ReadNewest(const documents::Database& database);
  const documents::DocumentReader& documents() const { return reader_; }
  TurnPool& readers() { return readers_; }
  MemoryBudget* memory() const { return options_.memory; }

  // ---- Queries.
  void Query(const documents::Database& database, QueryRequest request, Executor& executor,
             QueryCallback done);

  // ---- Commits and transactions.
  void Commit(documents::Database& database, std::vector<request::Write> writes,
              std::string_view transaction, Executor& executor, CommitCallback done,
              ClientKey client);
  Result<std::string> BeginTransaction(const documents::Database& database,
                                       const request::TransactionOptions& options,
                                       request::Client client);
  Status Rollback(const documents::Database& database, std::string_view transaction) {
    return transactions_.Rollback(database, transaction);
  }

  // ---- Listeners.
  std::shared_ptr<watch::Watcher> Watch(const documents::Database& database,
                                        std::unique_ptr<watch::WatchSink> sink, ClientKey client);
  size_t live_targets() const { return change_feed_.targets(); }
  Status Check(const documents::Database& database, const query::NormalizedQuery& query) override;
  Result<std::unique_ptr<watch::Results>> Query(const documents::Database& database,
                                                query::NormalizedQuery query,
                                                model::Timestamp read_time,
                                                PauseFunction pause) override;
  Result<size_t> Count(const documents::Database& database, query::NormalizedQuery query,
                       model::Timestamp read_time, PauseFunction pause) override;
  Result<model::Record> Get(const documents::Database& database, const model::DocumentPath& path,
                            model::Timestamp read_time) override;
  bool IsInHistory(const documents::Database& database, model::Timestamp time) const override;
  Result<std::optional<std::vector<watch::Change>>> ChangesBetween(
      const documents::Database& database, model::Timestamp from, model::Timestamp to,
      const std::function<bool(const model::DocumentPath&)>& concerns, const watch::ChangesMax& max,
      watch::WatchMemory* memory, PauseFunction pause) override;
  std::string ResumeToken(model::Timestamp read_time) const override;
  std::optional<model::Timestamp> ReadResumeToken(std::string_view token) const override;

  // ---- Databases, their indexes and their TTL policies.
  documents::DatabaseHandle OpenDatabase(const model::DatabaseName& name);
  std::vector<documents::ConstDatabaseHandle> Databases() const;
  uint64_t DocumentBytes(const documents::Database& database) const;
  Status DeleteDatabase(const model::DatabaseName& name);
  std::vector<std::string> DatabasesBeingRemoved() const { return database_remover_->Remaining(); }
  void AwaitRemovals() { database_remover_->AwaitIdle(); }
  void SetIndexConfig(std::string database, index::IndexConfig config);
  std::vector<index::Index> Indexes(const documents::Database& database) const;
  uint64_t IndexBytes(const index::Index& index) const;
  index::IndexConfig NeededIndexes(const documents::Database& database) const {
    return needed_indexes_.Of(database.number);
  }
  Status SetTtlPolicy(documents::Database& database, const index::TtlPolicy& policy);
  Status ClearTtlPolicy(documents::Database& database, const std::string& collection_group);
  std::vector<expiry::TtlStatus> TtlStatuses(const documents::Database& database) const {
    return ttl_sweeper_->StatusOf(database);
  }
  size_t SweepExpired() { return ttl_sweeper_->Sweep(); }
  std::vector<indexing::VectorGraphStatus> VectorGraphStatuses(
      const documents::Database& database) const;
  void AwaitIndexes() {
    index_keeper_->AwaitIdle();
    vector_graphs_.AwaitIdle();
  }

  std::string NewDocumentId();
  void Maintain();

 private:
  // A view that waits for its locks, its moment or a thread.
  struct OpeningView {
    documents::ConstDatabaseHandle database;
    ReadScope scope;
    ReadCallback done;
    Caller caller;
    ReadViewParts parts = {};
  };

  Core(storage::Store& store, const Clock& clock, RandomSource& random,
       const EngineOptions& options, std::unique_ptr<documents::Catalog> catalog,
       model::Timestamp newest_commit);

  // ---- Reading.
  Status CheckReadTime(model::Timestamp read_time) const;
  // Runs `done` on a reader if the scope is for scans, otherwise on any thread; immediately if
  // possible. An error may be told on any thread, too.
  void OpenView(const request::Consistency& consistency, OpeningView opening);
  void OpenInTransaction(std::shared_ptr<const transactions::Transaction> transaction,
                         OpeningView opening);
  void OpenAt(model::Timestamp read_time, OpeningView opening);
  // Opens the view on a reader when it is the client's turn, and runs `done` there.
  void OpenInTurn(const request::Consistency& consistency, OpeningView opening);
  // Completes the view once the transaction has its locks, or failed to get them.
  void FinishLocked(const transactions::Transaction& transaction, const Status& locked,
                    OpeningView opening);
  Result<std::unique_ptr<ReadView>> ViewAt(const documents::Database& database,
                                           const ReadScope& scope, model::Timestamp read_time,
                                           ReadViewParts parts) const;
  // For scans; waits for commits at or before that moment.
  Result<std::unique_ptr<ReadView>> ViewAtSettled(const documents::Database& database,
                                                  model::Timestamp read_time, PauseFunction pause);

  // ---- Queries.
  // Records what the query needs, and refuses it if its index is missing.
  Result<execution::ExecutionOptions> PrepareQuery(const documents::Database& database,
                                                   const query::NormalizedQuery& query);
  Result<std::unique_ptr<QueryRun>> StartQuery(std::unique_ptr<ReadView> view,
                                               query::NormalizedQuery query, QueryAnswer answer,
                                               execution::ExecutionOptions options);
  Result<std::unique_ptr<QueryRun>> QueryAt(const documents::Database& database,
                                            query::NormalizedQuery query, QueryAnswer answer,
                                            model::Timestamp read_time, PauseFunction pause);
  // At the end of the run, releases the locks that its results do not need.
  void NarrowLocksAfter(QueryRun& run, const transactions::LockOwner& owner,
                        const transactions::KeyPrefix& locked);
  // Called by a read from time to time: ends it once the caller has left, and lets others have
  // their turn on the readers.
  PauseFunction PauseUnless(std::stop_token left);
  // Decides by the cost of a query whether to create better indexes.
  void NoteCost(const documents::Database& database, const execution::Plan& plan,
                const query::Statistics& statistics);

  // ---- Commits.
  void Admit(documents::Database& database, std::vector<request::Write> writes,
             const transactions::LockOwner& owner, ClientKey client, CommitCallback done);

  // ---- Databases, indexes and policies.
  // Makes the numbers of databases that were never written available again.
  void RecycleDatabases();
  void StartTtl();
  void ApplyIndexPolicy(documents::Database& database);
  // The same, if the database does not follow the newest configuration yet.
  void FollowIndexPolicy(documents::Database& database);
  std::vector<index::TtlPolicy> TtlPoliciesOf(const documents::Database& database) const;

  // ---- Metrics. Call these when all parts exist.
  void AddMetrics();
  void AddTtlMetrics();
  void AddIndexMetrics();

  void RunMaintenance();
  // Ensures that no later commit gets a time already returned to a reader, even if the machine's
  // clock is set back in the meantime.
  void NoteReadTime();

  storage::Store& store_;
  const Clock& clock_;
  RandomSource& random_;
  const EngineOptions options_;
  const MetricsOrPrivate metrics_;
  EngineCounters counters_;
  std::unique_ptr<documents::Catalog> catalog_;
  documents::CommitClock commit_clock_;
  documents::DocumentCache cache_;
  documents::DocumentReader reader_;
  transactions::LockTable locks_;
  transactions::Transactions transactions_;
  commit::CommitsUnderWay commits_under_way_;
  std::string store_id_;
  watch::ChangeFeed change_feed_;
  indexing::IndexRegistry indexes_;
  indexing::VectorGraphs vector_graphs_;
  std::unique_ptr<indexing::IndexKeeper> index_keeper_;
  indexing::IndexPolicy index_policy_;
  indexing::NeededIndexRecorder needed_indexes_;
  std::unique_ptr<expiry::TtlPolicies> ttl_policies_;
  std::unique_ptr<expiry::TtlSweeper> ttl_sweeper_;
  std::unique_ptr<DatabaseRemover> database_remover_;
  // After every moment at which somebody may have read a database that was then deleted.
  std::atomic<int64_t> newest_deletion_micros_ = 0;
  // History up to here may be gone, even if the wall clock has been set back since.
  std::atomic<int64_t> forgotten_micros_ = 0;
  Mutex maintenance_mutex_;  // Leaf lock.
  CondVar maintenance_changed_;
  bool stopping_ GUARDED_BY(maintenance_mutex_) = false;
  // The order matters. The destructor stops the committer first, because its callbacks queue tasks
  // for the readers; the committer object outlives the readers, because their tasks may still try
  // to commit. All of them end before the members above, which they use.
  commit::Committer committer_;
  TurnPool readers_;
  TurnPool watch_threads_;
  std::thread maintenance_;
  std::vector<MetricCallback> metric_callbacks_;
};

}  // namespace hearth::engine
