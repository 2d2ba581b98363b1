#include "engine/engine.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/core.h"
#include "watch/watch_sink.h"
#include "watch/watcher.h"

namespace hearth::engine {

using documents::Database;

Engine::Engine(std::unique_ptr<Core> core) : core_(std::move(core)) {}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::Open(storage::Store& store, const Clock& clock,
                                             RandomSource& random, const EngineOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<Core> core, Core::Open(store, clock, random, options));
  return std::unique_ptr<Engine>(new Engine(std::move(core)));
}

documents::DatabaseHandle Engine::OpenDatabase(const model::DatabaseName& name) {
  return core_->OpenDatabase(name);
}

std::vector<documents::ConstDatabaseHandle> Engine::Databases() const { return core_->Databases(); }

uint64_t Engine::DocumentBytes(const Database& database) const {
  return core_->DocumentBytes(database);
}

Status Engine::DeleteDatabase(const model::DatabaseName& name) {
  return core_->DeleteDatabase(name);
}

std::vector<std::string> Engine::DatabasesBeingRemoved() const {
  return core_->DatabasesBeingRemoved();
}

void Engine::AwaitRemovals() { core_->AwaitRemovals(); }

void Engine::Read(const Database& database, const request::Consistency& consistency,
                  const ReadScope& scope, Executor& executor, ReadCallback done, Caller caller) {
  core_->Read(database, consistency, scope, executor, std::move(done), std::move(caller));
}

std::unique_ptr<ReadView> Engine::ReadNewest(const Database& database) {
  return core_->ReadNewest(database);
}

std::optional<Result<model::Record>> Engine::GetNewestIfInMemory(
    const Database& database, const model::DocumentPath& path) const {
  return core_->documents().PresentIfInMemory(model::DocumentKey(database.number, path));
}

Result<model::Record> Engine::GetNewest(const Database& database,
                                        const model::DocumentPath& path) const {
  return core_->documents().Present(model::DocumentKey(database.number, path));
}

void Engine::Query(const Database& database, QueryRequest request, Executor& executor,
                   QueryCallback done) {
  core_->Query(database, std::move(request), executor, std::move(done));
}

void Engine::Commit(Database& database, std::vector<request::Write> writes,
                    std::string_view transaction, Executor& executor, CommitCallback done,
                    ClientKey client) {
  core_->Commit(database, std::move(writes), transaction, executor, std::move(done), client);
}

Result<std::string> Engine::BeginTransaction(const Database& database,
                                             const request::TransactionOptions& options,
                                             request::Client client) {
  return core_->BeginTransaction(database, options, std::move(client));
}

Status Engine::Rollback(const Database& database, std::string_view transaction) {
  return core_->Rollback(database, transaction);
}

std::shared_ptr<watch::Watcher> Engine::Watch(const Database& database,
                                              std::unique_ptr<watch::WatchSink> sink,
                                              ClientKey client) {
  return core_->Watch(database, std::move(sink), client);
}

size_t Engine::live_targets() const { return core_->live_targets(); }

Executor& Engine::readers() { return core_->readers(); }

Status Engine::CheckReaders(ClientKey client) const { return core_->readers().CheckRoom(client); }

Status Engine::RunOnReaders(ClientKey client, Task task) {
  return core_->readers().TryPost(client, std::move(task));
}

void Engine::PostToReaders(ClientKey client, Task task) {
  core_->readers().Post(client, std::move(task));
}

Status Engine::PauseReader(const std::stop_token& left) { return core_->readers().Pause(left); }

MemoryBudget* Engine::memory() const { return core_->memory(); }

std::string Engine::NewDocumentId() { return core_->NewDocumentId(); }

void Engine::SetIndexConfig(std::string database, index::IndexConfig config) {
  core_->SetIndexConfig(std::move(database), std::move(config));
}

std::vector<index::Index> Engine::Indexes(const Database& database) const {
  return core_->Indexes(database);
}

uint64_t Engine::IndexBytes(const index::Index& index) const { return core_->IndexBytes(index); }

index::IndexConfig Engine::NeededIndexes(const Database& database) const {
  return core_->NeededIndexes(database);
}

Status Engine::SetTtlPolicy(Database& database, const index::TtlPolicy& policy) {
  return core_->SetTtlPolicy(database, policy);
}

Status Engine::ClearTtlPolicy(Database& database, const std::string& collection_group) {
  return core_->ClearTtlPolicy(database, collection_group);
}

std::vector<expiry::TtlStatus> Engine::TtlStatuses(const Database& database) const {
  return core_->TtlStatuses(database);
}

size_t Engine::SweepExpired() { return core_->SweepExpired(); }

std::vector<indexing::VectorGraphStatus> Engine::VectorGraphStatuses(
    const Database& database) const {
  return core_->VectorGraphStatuses(database);
}

void Engine::AwaitIndexes() { core_->AwaitIndexes(); }

void Engine::Maintain() { core_->Maintain(); }

}  // namespace hearth::engine
