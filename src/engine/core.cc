#include "engine/core.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "documents/keys.h"
#include "documents/stored_times.h"
#include "model/document_id.h"

namespace hearth::engine {
namespace {

using model::Timestamp;

constexpr std::chrono::milliseconds kMaintenancePeriod{250};

// A read that started just inside the history must not lose it while it runs.
constexpr std::chrono::microseconds kHistorySlack = std::chrono::minutes(5);

// Distinguishes this store's tokens from those of other stores served at the same address.
Result<std::string> LoadStoreId(storage::Store& store, RandomSource& random) {
  ASSIGN_OR_RETURN(std::optional<std::string> stored,
                   store.Get(storage::Space::kMeta, documents::kStoreIdKey));
  if (stored) return *std::move(stored);
  std::string id = model::EncodeUint64(random.Next());
  storage::Batch batch;
  batch.Put(storage::Space::kMeta, std::string(documents::kStoreIdKey), id);
  RETURN_IF_ERROR(store.Commit(batch));
  return id;
}

}  // namespace

Result<std::unique_ptr<Engine::Core>> Engine::Core::Open(storage::Store& store, const Clock& clock,
                                                         RandomSource& random,
                                                         const EngineOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<documents::Catalog> catalog,
                   documents::Catalog::Load(store, options.databases_max));
  ASSIGN_OR_RETURN(const Timestamp newest_time, documents::LoadNewestTime(store));
  // The only step that writes comes before there is an engine, which would write once more when it
  // is closed: a start on a full disk reports one error.
  ASSIGN_OR_RETURN(std::string store_id, LoadStoreId(store, random));
  std::unique_ptr<Core> core(
      new Core(store, clock, random, options, std::move(catalog), newest_time));
  ASSIGN_OR_RETURN(core->index_keeper_,
                   indexing::IndexKeeper::Open(store, clock, core->indexes_, options.indexes));
  ASSIGN_OR_RETURN(core->ttl_policies_, expiry::TtlPolicies::Load(store));
  ASSIGN_OR_RETURN(const Timestamp deletion, documents::LoadNewestDeletionTime(store));
  core->newest_deletion_micros_ = deletion.micros();
  ASSIGN_OR_RETURN(core->database_remover_, DatabaseRemover::Load(store));
  core->store_id_ = std::move(store_id);
  store.BeginService();
  core->change_feed_.Start();
  core->index_keeper_->Start(core->committer_);
  core->vector_graphs_.Start();
  core->StartTtl();
  core->database_remover_->Start(
      core->committer_,
      [&keeper = *core->index_keeper_](model::DatabaseNumber number, std::function<void()> done) {
        keeper.ForgetDatabase(number, std::move(done));
      });
  core->AddMetrics();
  // Last: it maintains all other parts.
  core->maintenance_ = std::thread([&self = *core] { self.RunMaintenance(); });
  return core;
}

Engine::Core::Core(storage::Store& store, const Clock& clock, RandomSource& random,
                   const EngineOptions& options, std::unique_ptr<documents::Catalog> catalog,
                   Timestamp newest_time)
    : store_(store),
      clock_(clock),
      random_(random),
      options_(options),
      metrics_(options.metrics),
      counters_(metrics_.get()),
      catalog_(std::move(catalog)),
      commit_clock_(clock, newest_time),
      cache_(options.document_cache_bytes),
      reader_(store, commit_clock_, cache_),
      locks_(clock, options.lock_wait_max, options.memory),
      transactions_(clock, commit_clock_, locks_, random),
      commits_under_way_(options.memory),
      change_feed_(commit_clock_, clock, {.queued_bytes = options.queued_change_bytes_max}),
      vector_graphs_(store, clock, indexes_, options_.vectors, options.history),
      committer_(store, commit_clock_, cache_, reader_, locks_, indexes_, vector_graphs_,
                 change_feed_, options.memory),
      readers_(options.readers),
      watch_threads_(options.watch_threads) {}

Engine::Core::~Core() {
  metric_callbacks_.clear();  // They query the parts that are destroyed next.
  {
    MutexLock lock(maintenance_mutex_);
    stopping_ = true;
  }
  maintenance_changed_.NotifyAll();
  if (maintenance_.joinable()) maintenance_.join();
  readers_.Cancel();
  watch_threads_.Cancel();
  // While everything that the callbacks use still exists, and before the sweeper stops: its lock
  // waits no longer expire.
  locks_.Close(Status(Code::kUnavailable, "the database is closing"));
  if (ttl_sweeper_) ttl_sweeper_->Stop();
  if (database_remover_) database_remover_->Stop();
  change_feed_.Stop();  // While the watchers that it schedules still exist.
  if (index_keeper_) index_keeper_->Stop();
  NoteReadTime();
  committer_.Stop();
}

void Engine::Core::NoteReadTime() {
  const Status status = committer_.RunStep(
      [this](storage::Batch* batch) {
        batch->Put(storage::Space::kMeta, std::string(documents::kReadTimeKey),
                   model::EncodeUint64(static_cast<uint64_t>(commit_clock_.Newest().micros())));
      },
      [] {});
  if (status.ok()) return;
  // The machine's clock will almost always be ahead of it at the next start anyway.
  Log(LogLevel::kWarning, "could not save the newest read time", {{"error", status.ToString()}});
}

std::string Engine::Core::NewDocumentId() { return model::NewDocumentId(random_); }

void Engine::Core::Maintain() {
  transactions_.Expire();
  locks_.ExpireWaits();  // After the expired transactions have released their locks.
  index_keeper_->Maintain();
  vector_graphs_.Maintain();
  change_feed_.Maintain();
  RecycleDatabases();
  const int64_t horizon = clock_.WallMicros() -
                          std::chrono::microseconds(options_.history).count() -
                          kHistorySlack.count();
  if (horizon <= 0) return;
  int64_t forgotten = forgotten_micros_;
  while (forgotten < horizon && !forgotten_micros_.compare_exchange_weak(forgotten, horizon)) {
  }
  store_.ExpireBefore(static_cast<uint64_t>(horizon));
}

void Engine::Core::RunMaintenance() {
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
