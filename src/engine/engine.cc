#include "engine/engine.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/log.h"
#include "engine/keys.h"
#include "engine/write_effect.h"
#include "model/document_id.h"
#include "model/path_encoding.h"

namespace hearth::engine {
namespace {

using model::Timestamp;

constexpr std::chrono::milliseconds kMaintenancePeriod{250};

// A read that began just inside the history must not lose it while it runs.
constexpr std::chrono::microseconds kHistorySlack = std::chrono::minutes(5);

Result<Timestamp> LoadTime(const storage::Store& store, std::string_view key) {
  ASSIGN_OR_RETURN(const std::optional<std::string> stored, store.Get(storage::Space::kMeta, key));
  if (!stored) return Timestamp();
  ASSIGN_OR_RETURN(const uint64_t micros, DecodeUint64(*stored));
  return Timestamp::FromMicros(static_cast<int64_t>(micros));
}

// The newest moment that was handed out, to a commit or to a reader.
Result<Timestamp> LoadNewestTime(const storage::Store& store) {
  ASSIGN_OR_RETURN(const Timestamp commit_time, LoadTime(store, kCommitTimeKey));
  ASSIGN_OR_RETURN(const Timestamp read_time, LoadTime(store, kReadTimeKey));
  return std::max(commit_time, read_time);
}

// Tells this store's tokens from those of others that were served at the same address.
Result<std::string> LoadStoreId(storage::Store& store, RandomSource& random) {
  ASSIGN_OR_RETURN(std::optional<std::string> stored,
                   store.Get(storage::Space::kMeta, kStoreIdKey));
  if (stored) return *std::move(stored);
  std::string id = EncodeUint64(random.Next());
  storage::Batch batch;
  batch.Put(storage::Space::kMeta, std::string(kStoreIdKey), id);
  RETURN_IF_ERROR(store.Commit(batch));
  return id;
}

LockScope ToLockScope(const Database& database, const std::vector<Write>& writes) {
  LockScope locks;
  locks.document_keys.reserve(writes.size());
  for (const Write& write : writes) {
    locks.document_keys.push_back(DocumentKey(database.number, write.path));
  }
  return locks;
}

}  // namespace

LockScope ToLockScope(const Database& database, const ReadScope& scope) {
  LockScope locks;
  for (const model::DocumentPath& path : scope.documents) {
    locks.document_keys.push_back(DocumentKey(database.number, path));
  }
  std::string part;
  if (!scope.collection_id.empty()) {
    model::AppendSegment(scope.collection_id, &part);
    part.append(model::kDocumentMark);
  }
  for (const std::string& prefix : scope.path_prefixes) {
    locks.key_prefixes.push_back({DatabaseKeyPrefix(database.number) + prefix, part});
  }
  return locks;
}

Result<std::unique_ptr<Engine>> Engine::Open(storage::Store& store, const Clock& clock,
                                             RandomSource& random, const EngineOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<Catalog> catalog, Catalog::Load(store));
  ASSIGN_OR_RETURN(const Timestamp newest_time, LoadNewestTime(store));
  std::unique_ptr<Engine> engine(
      new Engine(store, clock, random, options, std::move(catalog), newest_time));
  ASSIGN_OR_RETURN(engine->index_keeper_,
                   IndexKeeper::Open(store, clock, engine->indexes_, options.indexes));
  ASSIGN_OR_RETURN(engine->ttl_policies_, TtlPolicies::Load(store));
  ASSIGN_OR_RETURN(engine->store_id_, LoadStoreId(store, random));
  engine->change_feed_.Start();
  engine->index_keeper_->Start(engine->committer_);
  engine->vector_graphs_.Start();
  engine->StartTtl();
  // Last: it looks after all of them.
  engine->maintenance_ = std::thread([&self = *engine] { self.RunMaintenance(); });
  return engine;
}

Engine::Engine(storage::Store& store, const Clock& clock, RandomSource& random,
               const EngineOptions& options, std::unique_ptr<Catalog> catalog,
               Timestamp newest_time)
    : store_(store),
      clock_(clock),
      random_(random),
      options_(options),
      catalog_(std::move(catalog)),
      commit_clock_(clock, newest_time),
      cache_(options.document_cache_bytes),
      reader_(store, commit_clock_, cache_),
      locks_(clock, options.lock_wait_max),
      transactions_(clock, commit_clock_, locks_, random),
      change_feed_(commit_clock_, clock, options.queued_change_bytes_max),
      vector_graphs_(store, clock, indexes_, options_.vectors, options.history),
      committer_(store, commit_clock_, cache_, reader_, locks_, indexes_, vector_graphs_,
                 change_feed_),
      readers_(options.reader_threads, options.queued_reads_max),
      watch_threads_(options.watch_threads, std::numeric_limits<size_t>::max()) {}

Engine::~Engine() {
  {
    MutexLock lock(maintenance_mutex_);
    stopping_ = true;
  }
  maintenance_changed_.NotifyAll();
  if (maintenance_.joinable()) maintenance_.join();
  // While all that the callbacks use is still there, and before the sweeper's end: nobody ends its
  // waits any more.
  locks_.Close(Status(Code::kUnavailable, "the database is closing"));
  if (ttl_sweeper_) ttl_sweeper_->Stop();
  change_feed_.Stop();  // While those whom it sets to work are still there.
  if (index_keeper_) index_keeper_->Stop();
  NoteReadTime();
  committer_.Stop();
}

void Engine::NoteReadTime() {
  const Status status = committer_.RunStep(
      [this](storage::Batch* batch) {
        batch->Put(storage::Space::kMeta, std::string(kReadTimeKey),
                   EncodeUint64(static_cast<uint64_t>(commit_clock_.Newest().micros())));
      },
      [] {});
  if (status.ok()) return;
  // Nearly always the machine's clock will be ahead of it at the next start anyway.
  Log(LogLevel::kWarning, "could not save the newest read time", {{"error", status.ToString()}});
}

Status Engine::CheckReadTime(Timestamp read_time) const {
  if (read_time.micros() <= 0) return InvalidArgument("Only timestamps past epoch are supported.");
  const int64_t now = clock_.WallMicros();
  if (read_time.micros() > std::max(now, commit_clock_.Newest().micros())) {
    return InvalidArgument("The requested 'read_time' cannot be in the future.");
  }
  const int64_t oldest =
      std::max(now - std::chrono::microseconds(options_.history).count(), forgotten_micros_.load());
  if (read_time.micros() < oldest) {
    return Status(Code::kFailedPrecondition, "The requested 'read_time' is too old.");
  }
  return Status();
}

Result<std::unique_ptr<ReadView>> Engine::ViewAt(const Database& database, const ReadScope& scope,
                                                 Timestamp read_time, ReadView::Parts parts) {
  parts.database = &database;
  parts.reader = &reader_;
  parts.read_time = read_time;
  parts.is_present = false;
  if (scope.access == ReadScope::Access::kScans) {
    parts.indexes = indexes_.Current();  // Before the snapshot: see IndexRegistry.
    parts.snapshot = store_.NewSnapshot();
    // The snapshot says itself which commit is its newest. Where that is a later one, or one that
    // is not published yet, scans go back to what was.
    ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                     parts.snapshot->Get(storage::Space::kMeta, kCommitTimeKey));
    ASSIGN_OR_RETURN(const uint64_t newest, stored ? DecodeUint64(*stored) : Result<uint64_t>(0u));
    parts.is_present = newest <= static_cast<uint64_t>(read_time.micros());
  }
  return std::make_unique<ReadView>(std::move(parts));
}

Result<std::unique_ptr<ReadView>> Engine::ViewNow(const Database& database, const ReadScope& scope,
                                                  ReadView::Parts parts) {
  return ViewAt(database, scope, commit_clock_.ReadTime(), std::move(parts));
}

void Engine::ReadAt(const Database& database, Timestamp read_time, const ReadScope& scope,
                    ReadView::Parts parts, ReadCallback done) {
  if (commit_clock_.TrySettle(read_time)) {
    return done(ViewAt(database, scope, read_time, std::move(parts)));
  }
  // Commits at or before that moment are on their way to the disk: soon, but not on this thread.
  auto shared_parts = std::make_shared<ReadView::Parts>(std::move(parts));
  const Status accepted = RunBlocking([this, &database, read_time, scope, shared_parts, done] {
    commit_clock_.WaitUntilSettled(read_time);
    done(ViewAt(database, scope, read_time, std::move(*shared_parts)));
  });
  if (!accepted.ok()) done(accepted);
}

void Engine::ReadInTransaction(Database& database, std::shared_ptr<const Transaction> transaction,
                               const ReadScope& scope, std::string new_transaction,
                               ReadCallback done) {
  ReadView::Parts parts{};
  parts.new_transaction = std::move(new_transaction);
  parts.use = std::shared_ptr<void>(
      nullptr, [this, transaction](void*) { transactions_.EndUse(*transaction); });
  if (transaction->mode == TransactionOptions::Mode::kReadOnly) {
    return ReadAt(database, transaction->read_time, scope, std::move(parts), std::move(done));
  }
  parts.locked_by = transaction->owner;
  // std::function wants copyable captures.
  auto shared_parts = std::make_shared<ReadView::Parts>(std::move(parts));
  locks_.Acquire(transaction->owner, ToLockScope(database, scope), transaction->read_lock,
                 [this, &database, transaction, scope, shared_parts,
                  done = std::move(done)](const Status& status) {
                   const bool is_first_read = !shared_parts->new_transaction.empty();
                   Result<std::unique_ptr<ReadView>> view =
                       status.ok() ? ViewNow(database, scope, std::move(*shared_parts)) : status;
                   // By the view's moment, what was read before may have changed.
                   if (view.ok() && locks_.HasLost(transaction->owner)) view = LocksLost();
                   // Nobody knows the id of a transaction whose first read failed. One that has
                   // lost its locks stays, so that later requests are told the same.
                   const bool is_over =
                       is_first_read ? !view.ok() : !status.ok() && status.code() != Code::kAborted;
                   if (is_over) {
                     IgnoreError(transactions_.Rollback(database, transaction->id),
                                 "it may have ended already");
                   }
                   done(std::move(view));
                 });
}

void Engine::Read(Database& database, const Consistency& consistency, const ReadScope& scope,
                  ReadCallback done) {
  if (std::holds_alternative<Now>(consistency)) {
    return done(ViewNow(database, scope, ReadView::Parts{}));
  }
  if (const auto* read_time = std::get_if<Timestamp>(&consistency)) {
    if (Status status = CheckReadTime(*read_time); !status.ok()) return done(std::move(status));
    return ReadAt(database, *read_time, scope, ReadView::Parts{}, std::move(done));
  }
  std::string id;
  std::string new_transaction;
  Transactions::Client client;
  if (const auto* existing = std::get_if<InTransaction>(&consistency)) {
    id = existing->id;
    client = existing->client;
  } else {
    const auto& beginning = std::get<NewTransaction>(consistency);
    Result<std::string> started = BeginTransaction(database, beginning.options);
    if (!started.ok()) return done(started.status());
    id = new_transaction = *std::move(started);
    client = beginning.client;
  }
  Result<std::shared_ptr<const Transaction>> transaction =
      transactions_.BeginUse(database, id, std::move(client));
  if (!transaction.ok()) return done(transaction.status());
  ReadInTransaction(database, *std::move(transaction), scope, std::move(new_transaction),
                    std::move(done));
}

std::optional<Result<Record>> Engine::GetNewestIfInMemory(const Database& database,
                                                          const model::DocumentPath& path) const {
  return reader_.PresentIfInMemory(DocumentKey(database.number, path));
}

Result<Record> Engine::GetNewest(const Database& database, const model::DocumentPath& path) const {
  return reader_.Present(DocumentKey(database.number, path));
}

void Engine::Admit(Database& database, std::vector<Write> writes, LockOwner owner,
                   CommitCallback done) {
  const size_t bytes = ApproximateBytes(writes);
  if (!commits_under_way_.Begin(bytes)) {
    locks_.Release(owner);
    return done(Status(Code::kResourceExhausted, "too many commits are waiting"));
  }
  LockScope scope = ToLockScope(database, writes);
  auto commit = std::make_shared<AdmittedCommit>(
      AdmittedCommit{&database, owner, std::move(writes),
                     [this, bytes, done = std::move(done)](Result<CommitResult> result) {
                       commits_under_way_.End(bytes);
                       done(std::move(result));
                     }});
  scope.may_enter = [commit](size_t i, const watch::LiveQuery& query) {
    return MayEnter(query, commit->database->name, commit->writes[i]);
  };
  locks_.Acquire(owner, std::move(scope), LockMode::kWrite,
                 [this, commit = std::move(commit)](const Status& status) {
                   if (status.ok()) return committer_.Submit(std::move(*commit));
                   locks_.Release(commit->owner);
                   commit->done(status);
                 });
}

void Engine::Commit(Database& database, std::vector<Write> writes, std::string_view transaction,
                    CommitCallback done) {
  if (transaction.empty()) {
    return Admit(database, std::move(writes), transactions_.NewOwner(), std::move(done));
  }
  Result<std::shared_ptr<const Transaction>> used = transactions_.BeginUse(database, transaction);
  if (!used.ok()) return done(used.status());
  transactions_.EndUse(**used);
  const bool is_read_only = (*used)->mode == TransactionOptions::Mode::kReadOnly;
  if (is_read_only && !writes.empty()) {
    return done(InvalidArgument("Cannot modify entities in a read-only transaction."));
  }
  Result<std::shared_ptr<const Transaction>> taken =
      transactions_.TakeForCommit(database, transaction);
  if (!taken.ok()) return done(taken.status());
  // The transaction lasts as long as its commit, and with it the locks; no longer, so that whoever
  // hears of the commit finds them released.
  const LockOwner owner = (*taken)->owner;
  Admit(database, std::move(writes), owner,
        [transaction = *std::move(taken),
         done = std::move(done)](Result<CommitResult> result) mutable {
          transaction.reset();
          done(std::move(result));
        });
}

Result<std::string> Engine::BeginTransaction(const Database& database,
                                             const TransactionOptions& options,
                                             Transactions::Client client) {
  if (options.read_time) RETURN_IF_ERROR(CheckReadTime(*options.read_time));
  ASSIGN_OR_RETURN(const std::shared_ptr<const Transaction> transaction,
                   transactions_.Begin(database, options, std::move(client)));
  return transaction->id;
}

Status Engine::Rollback(const Database& database, std::string_view transaction) {
  return transactions_.Rollback(database, transaction);
}

Status Engine::RunBlocking(std::function<void()> task) {
  if (readers_.Submit(std::move(task))) return Status();
  return Status(Code::kResourceExhausted, "too many reads are waiting for the disk");
}

std::string Engine::NewDocumentId() { return model::NewDocumentId(random_); }

void Engine::Maintain() {
  transactions_.Expire();
  locks_.ExpireWaits();  // After the locks that have come free.
  index_keeper_->Maintain();
  vector_graphs_.Maintain();
  change_feed_.Maintain();
  const int64_t horizon = clock_.WallMicros() -
                          std::chrono::microseconds(options_.history).count() -
                          kHistorySlack.count();
  if (horizon <= 0) return;
  int64_t forgotten = forgotten_micros_;
  while (forgotten < horizon && !forgotten_micros_.compare_exchange_weak(forgotten, horizon)) {
  }
  store_.ExpireBefore(static_cast<uint64_t>(horizon));
}

void Engine::RunMaintenance() {
  while (true) {
    {
      MutexLock lock(maintenance_mutex_);
      if (!stopping_) maintenance_changed_.WaitFor(maintenance_mutex_, kMaintenancePeriod);
      if (stopping_) return;
    }
    Maintain();
  }
}

}  // namespace hearth::engine
