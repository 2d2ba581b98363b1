#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "engine/catalog.h"
#include "engine/change_feed.h"
#include "engine/commit_clock.h"
#include "engine/commits_under_way.h"
#include "engine/committer.h"
#include "engine/document_cache.h"
#include "engine/document_reader.h"
#include "engine/index_keeper.h"
#include "engine/index_policy.h"
#include "engine/index_registry.h"
#include "engine/lock_table.h"
#include "engine/needed_indexes.h"
#include "engine/query_run.h"
#include "engine/read_scope.h"
#include "engine/read_view.h"
#include "engine/transactions.h"
#include "engine/ttl_policies.h"
#include "engine/ttl_sweeper.h"
#include "engine/vector_graphs.h"
#include "engine/watcher.h"
#include "engine/write.h"
#include "model/names.h"
#include "query/normalize.h"
#include "storage/store.h"

namespace hearth::engine {

struct EngineOptions {
  size_t document_cache_bytes = 32 * 1024 * 1024;
  size_t reader_threads = 4;
  size_t queued_reads_max = 20'000;
  // For listeners: what they read at first, and what they hear of later.
  size_t watch_threads = 4;
  WatcherOptions watchers;
  size_t queued_change_bytes_max = ChangeFeed::kQueuedBytesMax;
  // How far back reads at an earlier time go.
  std::chrono::seconds history = std::chrono::hours(1);
  // How long a commit or a transaction's read waits for somebody else's transaction.
  std::chrono::milliseconds lock_wait_max = std::chrono::seconds(5);
  IndexKeeperOptions indexes;
  VectorGraphOptions vectors;
  IndexMode index_mode = IndexMode::kAuto;
  // A query that reads more documents and index entries than this, and not because it returns them,
  // has the indexes made that it lacks.
  size_t reads_without_index_max = 300;
  // A query that looks at more documents than this, for want of an index, is logged, or in strict
  // mode refused.
  size_t scanned_documents_max = 100'000;
};

// When a read happens.
struct Now {};
struct InTransaction {
  std::string id;
  Transactions::Client client = nullptr;
};
struct NewTransaction {
  TransactionOptions options;
  Transactions::Client client = nullptr;
};
using Consistency = std::variant<Now, model::Timestamp, InTransaction, NewTransaction>;

LockScope ToLockScope(const Database& database, const ReadScope& scope);

// The document database: what every door and every embedded user calls.
//
// Threads: safe for concurrent use. Callbacks run on the caller's thread or on one of the
// engine's, and must not block. Ownership: borrows the store, the clock and the random source.
// Errors: InvalidArgument, NotFound, AlreadyExists, FailedPrecondition and Aborted in Firestore's
// sense; Unavailable, ResourceExhausted and DataLoss from the store.
class Engine {
 public:
  static Result<std::unique_ptr<Engine>> Open(storage::Store& store, const Clock& clock,
                                              RandomSource& random, const EngineOptions& options);
  // Finishes the commits that were taken in. What waits for a lock is answered with Unavailable.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // The database called `name`, which comes into being with its first commit.
  Result<Database*> OpenDatabase(const model::DatabaseName& name);
  // All that have come into being, in the order of their names.
  std::vector<const Database*> Databases() const;

  // Opens a view of `scope`, waiting for locks where a read-write transaction needs them.
  using ReadCallback = std::function<void(Result<std::unique_ptr<ReadView>>)>;
  void Read(Database& database, const Consistency& consistency, const ReadScope& scope,
            ReadCallback done);

  // Starts a query, waiting for locks where a read-write transaction needs them. May wait for the
  // disk.
  using QueryCallback = std::function<void(Result<std::unique_ptr<QueryRun>>)>;
  void Query(Database& database, query::NormalizedQuery query, const Consistency& consistency,
             QueryCallback done);

  // The newest state of one document; nullopt when that would have to wait for the disk.
  std::optional<Result<Record>> GetNewestIfInMemory(const Database& database,
                                                    const model::DocumentPath& path) const;
  Result<Record> GetNewest(const Database& database, const model::DocumentPath& path) const;

  // Applies `writes` together, durably, or not at all. `transaction`: the id of the transaction
  // to commit; empty outside of transactions. It has ended when `done` runs, unless it is
  // read-only.
  using CommitCallback = std::function<void(Result<CommitResult>)>;
  void Commit(Database& database, std::vector<Write> writes, std::string_view transaction,
              CommitCallback done);

  Result<std::string> BeginTransaction(const Database& database, const TransactionOptions& options,
                                       Transactions::Client client = nullptr);
  Status Rollback(const Database& database, std::string_view transaction);

  // Listens to a database. The targets are added to what is returned.
  std::shared_ptr<Watcher> Watch(Database& database, std::unique_ptr<WatchSink> sink);
  // Where a listener can go on later; and the other way round, nullopt for what is none of this
  // store's tokens.
  std::string ResumeToken(model::Timestamp read_time) const;
  std::optional<model::Timestamp> ReadResumeToken(std::string_view token) const;

  // For watchers. They may wait for the disk.
  ChangeFeed& change_feed() { return change_feed_; }
  // Runs `task` on one of the watchers' threads. Each watcher has at most one task waiting.
  void RunWatch(std::function<void()> task);
  // Why the query may not be listened to; refusals are those of strict mode.
  Status CheckListener(const Database& database, const query::NormalizedQuery& query);
  Result<std::unique_ptr<QueryRun>> QueryAt(Database& database, query::NormalizedQuery query,
                                            model::Timestamp read_time);
  Result<std::unique_ptr<ReadView>> ViewAtSettled(const Database& database,
                                                  model::Timestamp read_time);
  // Whether everything that has changed since can still be told.
  bool IsInHistory(model::Timestamp time) const { return CheckReadTime(time).ok(); }
  // The documents that `concerns` picks and that differ between two moments; nullopt when they are
  // more than `max` allows, or hidden among too many others.
  Result<std::optional<std::vector<watch::Change>>> ChangesBetween(
      const Database& database, model::Timestamp from, model::Timestamp to,
      const std::function<bool(const model::DocumentPath&)>& concerns, const ChangesMax& max);

  // Runs `task`, which may wait for the disk, on one of the reader threads. ResourceExhausted
  // when too many wait already; then the task is not run.
  Status RunBlocking(std::function<void()> task);

  // A 20-character id such as SDKs make.
  std::string NewDocumentId();

  // From now on databases with this id, or the one with this name, have the indexes and policies
  // that the configuration says. For a database that has one of its own, that of its id does not
  // count.
  void SetIndexConfig(std::string database, index::IndexConfig config);
  // The indexes of one database, and about how many bytes one of them takes up.
  std::vector<index::Index> Indexes(const Database& database) const;
  uint64_t IndexBytes(const index::Index& index) const;
  // What the queries since the start would need in Firestore.
  index::IndexConfig NeededIndexes(const Database& database) const {
    return needed_indexes_.Of(database.number);
  }

  // Policies that stay with the data. They may wait for the disk. Clearing fails with NotFound
  // where there is no policy, and with FailedPrecondition where it is the configuration's.
  Status SetTtlPolicy(Database& database, const index::TtlPolicy& policy);
  Status ClearTtlPolicy(Database& database, const std::string& collection_group);
  std::vector<TtlStatus> TtlStatuses(const Database& database) const {
    return ttl_sweeper_->StatusOf(database);
  }
  // Deletes what has expired. Runs by itself; tests call it with a clock of their own.
  size_t SweepExpired() { return ttl_sweeper_->Sweep(); }

  // The graphs of approximate vector indexes.
  std::vector<VectorGraphStatus> VectorGraphStatuses(const Database& database) const;

  // Waits until no index is being built or dropped.
  void AwaitIndexes() {
    index_keeper_->AwaitIdle();
    vector_graphs_.AwaitIdle();
  }

  // Ends what has waited or lived too long, and lets go of old history. Runs by itself every
  // kMaintenancePeriod; tests call it with a clock of their own.
  void Maintain();

 private:
  Engine(storage::Store& store, const Clock& clock, RandomSource& random,
         const EngineOptions& options, std::unique_ptr<Catalog> catalog,
         model::Timestamp newest_commit);
  void StartTtl();
  void ApplyIndexPolicy(Database& database);
  // The same, if the database does not follow the newest configuration yet.
  void FollowIndexPolicy(Database& database);
  std::vector<index::TtlPolicy> TtlPoliciesOf(const Database& database) const;
  // Notes what the query needs, and refuses it where its index is missing.
  Result<query::Execution::Options> PrepareQuery(const Database& database,
                                                 const query::NormalizedQuery& query);
  Result<std::unique_ptr<QueryRun>> StartQuery(const Database& database,
                                               std::unique_ptr<ReadView> view,
                                               query::NormalizedQuery query,
                                               const query::Execution::Options& options);
  // Once the run is at its end, gives up those of its locks that its answer does not need.
  void NarrowLocksAfter(QueryRun& run, LockOwner owner, const KeyPrefix& locked);
  // What a query has cost decides whether it gets better indexes.
  void NoteCost(const Database& database, const query::Plan& plan,
                const query::Statistics& statistics);

  Status CheckReadTime(model::Timestamp read_time) const;
  Result<std::unique_ptr<ReadView>> ViewAt(const Database& database, const ReadScope& scope,
                                           model::Timestamp read_time, ReadView::Parts parts);
  Result<std::unique_ptr<ReadView>> ViewNow(const Database& database, const ReadScope& scope,
                                            ReadView::Parts parts);
  void ReadAt(const Database& database, model::Timestamp read_time, const ReadScope& scope,
              ReadView::Parts parts, ReadCallback done);
  void ReadInTransaction(Database& database, std::shared_ptr<const Transaction> transaction,
                         const ReadScope& scope, std::string new_transaction, ReadCallback done);
  void Admit(Database& database, std::vector<Write> writes, LockOwner owner, CommitCallback done);
  void RunMaintenance();
  // So that no later commit gets a time that a reader has been told, even though the machine's
  // clock may be set back meanwhile.
  void NoteReadTime();

  storage::Store& store_;
  const Clock& clock_;
  RandomSource& random_;
  const EngineOptions options_;
  std::unique_ptr<Catalog> catalog_;
  CommitClock commit_clock_;
  DocumentCache cache_;
  DocumentReader reader_;
  LockTable locks_;
  Transactions transactions_;
  CommitsUnderWay commits_under_way_;
  std::string store_id_;
  ChangeFeed change_feed_;
  IndexRegistry indexes_;
  VectorGraphs vector_graphs_;
  std::unique_ptr<IndexKeeper> index_keeper_;
  IndexPolicy index_policy_;
  NeededIndexRecorder needed_indexes_;
  std::unique_ptr<TtlPolicies> ttl_policies_;
  std::unique_ptr<TtlSweeper> ttl_sweeper_;
  // History up to here may be gone, also if the wall clock has been set back since.
  std::atomic<int64_t> forgotten_micros_ = 0;
  Mutex maintenance_mutex_;  // Leaf lock.
  CondVar maintenance_changed_;
  bool stopping_ GUARDED_BY(maintenance_mutex_) = false;
  // The order matters. The destructor stops the committer first, because its callbacks queue tasks
  // for the readers; the object outlives the readers, because their tasks may still try to commit.
  // All of them end before the members above, which they use.
  Committer committer_;
  ThreadPool readers_;
  ThreadPool watch_threads_;
  std::thread maintenance_;
};

}  // namespace hearth::engine
