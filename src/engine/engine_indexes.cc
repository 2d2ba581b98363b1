// The engine's indexes and TTL policies, as its users see them.
#include <algorithm>
#include <utility>

#include "engine/engine.h"
#include "engine/keys.h"

namespace hearth::engine {

using index::Definition;
using index::Index;
using index::Origin;
using index::TtlPolicy;

Result<Database*> Engine::OpenDatabase(const model::DatabaseName& name) {
  ASSIGN_OR_RETURN(Database * database, catalog_->Open(name));
  if (database->index_policy_version != index_policy_.version()) ApplyIndexPolicy(*database);
  return database;
}

void Engine::SetIndexConfig(std::string database_id, index::IndexConfig config) {
  index_policy_.Set(std::move(database_id), std::move(config));
  for (Database* database : catalog_->Stored()) ApplyIndexPolicy(*database);
}

void Engine::ApplyIndexPolicy(Database& database) {
  // Its number is not for ever before it is on disk: its indexes have to wait until then.
  if (!database.is_on_disk) return;
  const uint64_t version = index_policy_.version();
  const std::shared_ptr<const index::IndexConfig> config = index_policy_.Of(database);
  std::vector<std::pair<Definition, Origin>> wanted;
  for (const Definition& composite : config->composites) {
    wanted.emplace_back(index::Canonical(composite), Origin::kDeclared);
  }
  for (const index::VectorIndex& vector : config->vectors) {
    wanted.emplace_back(index::DefinitionOf(vector), Origin::kDeclared);
  }
  for (const TtlPolicy& policy : TtlPoliciesOf(database)) {
    wanted.emplace_back(TtlIndex(policy), Origin::kTtl);
  }
  for (const auto& [definition, origin] : wanted) {
    index_keeper_->Want(database.number, definition, origin);
  }
  for (const Index& index : Indexes(database)) {
    const bool is_wanted = std::any_of(wanted.begin(), wanted.end(), [&](const auto& each) {
      return each.first == index.definition;
    });
    if (index.origin != Origin::kOnDemand && !is_wanted) index_keeper_->Release(index.number);
  }
  vector_graphs_.SetWanted(database.number, config->vectors);
  database.index_policy_version = version;
}

std::vector<Index> Engine::Indexes(const Database& database) const {
  std::vector<Index> indexes;
  for (const Index& index : indexes_.Current()->all()) {
    if (index.database == database.number) indexes.push_back(index);
  }
  return indexes;
}

std::vector<VectorGraphStatus> Engine::VectorGraphStatuses(const Database& database) const {
  std::vector<VectorGraphStatus> statuses = vector_graphs_.Statuses();
  std::erase_if(statuses, [&](const auto& each) { return each.database != database.number; });
  return statuses;
}

uint64_t Engine::IndexBytes(const Index& index) const {
  return store_.ApproximateBytes(storage::Space::kIndexes,
                                 storage::PrefixRange(index::IndexKeyPrefix(index.number)));
}

void Engine::StartTtl() {
  TtlSweeper::Hooks hooks;
  hooks.databases = [this] { return catalog_->Stored(); };
  hooks.policies = [this](const Database& database) { return TtlPoliciesOf(database); };
  hooks.get = [this](const Database& database, const model::DocumentPath& path) {
    return GetNewest(database, path);
  };
  hooks.commit = [this](Database& database, Write write, std::function<void(Status)> done) {
    std::vector<Write> writes;
    writes.push_back(std::move(write));
    Commit(database, std::move(writes), "",
           [done = std::move(done)](const Result<CommitResult>& result) { done(result.status()); });
  };
  ttl_sweeper_ = std::make_unique<TtlSweeper>(store_, clock_, indexes_, std::move(hooks));
  ttl_sweeper_->Start();
}

// Those that were set by command, and those of the configuration for other collection groups.
std::vector<TtlPolicy> Engine::TtlPoliciesOf(const Database& database) const {
  std::vector<TtlPolicy> policies = ttl_policies_->Of(database.number);
  for (const TtlPolicy& configured : index_policy_.Of(database)->ttl_policies) {
    const bool is_set = std::any_of(policies.begin(), policies.end(), [&](const TtlPolicy& policy) {
      return policy.collection_group == configured.collection_group;
    });
    if (!is_set) policies.push_back(configured);
  }
  return policies;
}

Status Engine::SetTtlPolicy(Database& database, const TtlPolicy& policy) {
  const auto stage = [&](storage::Batch* batch) {
    TtlPolicies::StageSet(database.number, policy, batch);
    if (database.is_on_disk) return;
    batch->Put(storage::Space::kMeta, std::string(kDatabaseKeyPrefix) + database.name.text(),
               EncodeUint32(static_cast<uint32_t>(database.number)));
  };
  RETURN_IF_ERROR(committer_.RunStep(stage, [&] {
    database.is_on_disk = true;
    ttl_policies_->Set(database.number, policy);
  }));
  ApplyIndexPolicy(database);
  return Status();
}

Status Engine::ClearTtlPolicy(Database& database, const std::string& collection_group) {
  RETURN_IF_ERROR(committer_.RunStep(
      [&](storage::Batch* batch) {
        TtlPolicies::StageClear(database.number, collection_group, batch);
      },
      [&] { ttl_policies_->Clear(database.number, collection_group); }));
  ApplyIndexPolicy(database);
  return Status();
}

}  // namespace hearth::engine
