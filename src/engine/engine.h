#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/callback.h"
#include "base/connected_client.h"
#include "base/executor.h"
#include "base/memory_budget.h"
#include "base/status.h"
#include "documents/database.h"
#include "engine/caller.h"
#include "engine/query_run.h"
#include "engine/read_scope.h"
#include "engine/read_view.h"
#include "model/names.h"
#include "model/record.h"
#include "request/consistency.h"
#include "request/write.h"

namespace hearth {
class Clock;
class RandomSource;
}  // namespace hearth

namespace hearth::storage {
class Store;
}

namespace hearth::index {
struct Index;
struct IndexConfig;
struct TtlPolicy;
}  // namespace hearth::index

namespace hearth::expiry {
struct TtlStatus;
}

namespace hearth::indexing {
struct VectorGraphStatus;
}

namespace hearth::watch {
class Watcher;
class WatchSink;
}  // namespace hearth::watch

namespace hearth::engine {

struct EngineOptions;

// The document database: the API for every door and every embedded user.
//
// A call that may have to wait, for a lock or for the disk, takes an executor and calls back there,
// never from inside the call.
//
// Threads: safe for concurrent use. Ownership: borrows the store, the clock, the random source and
// executors; an executor must outlive the callbacks that were passed with it.
// Errors: InvalidArgument, NotFound, AlreadyExists, FailedPrecondition and Aborted in Firestore's
// sense; Unavailable, ResourceExhausted and DataLoss from the store.
class Engine {
 public:
  static Result<std::unique_ptr<Engine>> Open(storage::Store& store, const Clock& clock,
                                              RandomSource& random, const EngineOptions& options);
  // Finishes the accepted commits. Requests that wait for a lock fail with Unavailable.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // The database called `name`; never null. It is created with its first commit. Until then it
  // reads as empty, and nothing is left of it once its last handle is gone. A function that takes a
  // database keeps a handle for as long as it needs one.
  documents::DatabaseHandle OpenDatabase(const model::DatabaseName& name);
  // All created databases, in the order of their names.
  std::vector<documents::ConstDatabaseHandle> Databases() const;

  // The approximate size of the database's documents in bytes.
  uint64_t DocumentBytes(const documents::Database& database) const;
  // Durably deletes the database with its indexes and policies. Its name is free at once: the next
  // commit to it creates another database. What it has on disk is removed in the background.
  // Listeners end with Unavailable, open transactions are rolled back, and reads and commits that
  // the deletion overtakes fail with Aborted. NotFound if there is no such database. May wait for
  // the disk.
  Status DeleteDatabase(const model::DatabaseName& name);
  // The names of the deleted databases that still use the disk; and waits until there are none.
  std::vector<std::string> DatabasesBeingRemoved() const;
  void AwaitRemovals();

  // Opens a view of `scope`, after waiting for locks if a read-write transaction needs them. What
  // has to wait for a reader waits for the caller's turn. Cancelled if the caller leaves first; the
  // transaction then stays as it was, unless it began with this read.
  using ReadCallback = Callback<void(Result<std::unique_ptr<ReadView>>)>;
  void Read(const documents::Database& database, const request::Consistency& consistency,
            const ReadScope& scope, Executor& executor, ReadCallback done, Caller caller = {});
  // A view of the newest state of single documents. Does not wait.
  std::unique_ptr<ReadView> ReadNewest(const documents::Database& database);
  // The newest state of one document; nullopt if that would have to wait for the disk.
  std::optional<Result<model::Record>> GetNewestIfInMemory(const documents::Database& database,
                                                           const model::DocumentPath& path) const;
  Result<model::Record> GetNewest(const documents::Database& database,
                                  const model::DocumentPath& path) const;

  // Plans a query and opens its view, after waiting for locks as above. Everything after that may
  // wait for the disk: a caller without a thread of its own continues on `readers()`.
  using QueryCallback = Callback<void(Result<std::unique_ptr<QueryRun>>)>;
  void Query(const documents::Database& database, QueryRequest request, Executor& executor,
             QueryCallback done);

  // Applies `writes` together, durably, or not at all. `transaction`: the id of the transaction to
  // commit; empty outside transactions. It has ended when `done` runs, unless it is read-only.
  using CommitCallback = Callback<void(Result<request::CommitResult>)>;
  void Commit(documents::Database& database, std::vector<request::Write> writes,
              std::string_view transaction, Executor& executor, CommitCallback done,
              ClientKey client = ClientKey::kInternal);

  Result<std::string> BeginTransaction(const documents::Database& database,
                                       const request::TransactionOptions& options,
                                       request::Client client = nullptr);
  Status Rollback(const documents::Database& database, std::string_view transaction);

  // Listens to a database. Add targets to the returned watcher.
  std::shared_ptr<watch::Watcher> Watch(const documents::Database& database,
                                        std::unique_ptr<watch::WatchSink> sink,
                                        ClientKey client = ClientKey::kInternal);
  // The number of live targets.
  size_t live_targets() const;

  // The threads for work that may wait for the disk, on which clients take turns. Use Post for work
  // that was already admitted; new work goes through RunOnReaders, which fails with
  // ResourceExhausted if too much is queued, by this client or in all. CheckReaders tells whether
  // it would, for callers that need not even prepare such work.
  Executor& readers();
  Status CheckReaders(ClientKey client) const;
  Status RunOnReaders(ClientKey client, Task task);
  void PostToReaders(ClientKey client, Task task);
  // Long work on readers() calls this often; see TurnPool::Pause.
  Status PauseReader(const std::stop_token& left = {});
  // For what callers hold on behalf of clients. Null: unlimited.
  MemoryBudget* memory() const;

  // A 20-character id like those that SDKs generate.
  std::string NewDocumentId();

  // From now on databases with this id, or the one with this name, have the indexes and policies of
  // the configuration. A configuration by name takes precedence over the one by id.
  void SetIndexConfig(std::string database, index::IndexConfig config);
  // The indexes of one database, and the approximate size of one of them in bytes.
  std::vector<index::Index> Indexes(const documents::Database& database) const;
  uint64_t IndexBytes(const index::Index& index) const;
  // The indexes that the queries since the start would need in Firestore.
  index::IndexConfig NeededIndexes(const documents::Database& database) const;

  // Policies that are stored with the data. These functions may wait for the disk. Clearing fails
  // with NotFound if there is no policy, and with FailedPrecondition if the policy comes from the
  // configuration.
  Status SetTtlPolicy(documents::Database& database, const index::TtlPolicy& policy);
  Status ClearTtlPolicy(documents::Database& database, const std::string& collection_group);
  std::vector<expiry::TtlStatus> TtlStatuses(const documents::Database& database) const;
  // Deletes expired documents. Runs by itself; tests call it with a clock of their own.
  size_t SweepExpired();

  // The graphs of approximate vector indexes.
  std::vector<indexing::VectorGraphStatus> VectorGraphStatuses(
      const documents::Database& database) const;

  // Waits until no index is being built or dropped.
  void AwaitIndexes();

  // Ends whatever has waited or lived too long, and drops old history. Runs by itself every quarter
  // of a second; tests call it with a clock of their own.
  void Maintain();

 private:
  class Core;

  explicit Engine(std::unique_ptr<Core> core);

  const std::unique_ptr<Core> core_;
};

}  // namespace hearth::engine
