// The engine's public functions for indexes and TTL policies.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "documents/keys.h"
#include "engine/core.h"

namespace hearth::engine {

using index::Definition;
using index::Index;
using index::Origin;
using index::TtlPolicy;

void Engine::Core::SetIndexConfig(std::string database, index::IndexConfig config) {
  index_policy_.Set(std::move(database), std::move(config));
  for (const documents::DatabaseHandle& each : catalog_->Stored()) ApplyIndexPolicy(*each);
}

void Engine::Core::FollowIndexPolicy(documents::Database& database) {
  if (database.index_policy_version != index_policy_.version()) ApplyIndexPolicy(database);
}

void Engine::Core::ApplyIndexPolicy(documents::Database& database) {
  // The number of a database is not final until it is on disk: its indexes have to wait until then.
  if (!database.is_on_disk || database.is_deleted) return;
  const uint64_t version = index_policy_.version();
  const std::shared_ptr<const index::IndexConfig> config = index_policy_.Of(database);
  std::vector<Definition> wanted;
  const auto want = [&](const Definition& definition, Origin origin) {
    index_keeper_->Want(database, definition, origin);
    wanted.push_back(definition);
  };
  for (const Definition& composite : config->composites) {
    want(index::Canonical(composite), Origin::kDeclared);
  }
  for (const index::VectorIndex& vector : config->vectors) {
    want(index::DefinitionOf(vector), Origin::kDeclared);
  }
  for (const TtlPolicy& policy : TtlPoliciesOf(database))
    want(expiry::TtlIndex(policy), Origin::kTtl);
  index_keeper_->ReleaseAllBut(database.number, std::move(wanted));
  vector_graphs_.SetWanted(database.number, config->vectors);
  database.index_policy_version = version;
}

std::vector<Index> Engine::Core::Indexes(const documents::Database& database) const {
  return indexes_.Current()->OfDatabase(database.number);
}

std::vector<indexing::VectorGraphStatus> Engine::Core::VectorGraphStatuses(
    const documents::Database& database) const {
  std::vector<indexing::VectorGraphStatus> statuses = vector_graphs_.Statuses();
  std::erase_if(statuses, [&](const auto& each) { return each.database != database.number; });
  return statuses;
}

uint64_t Engine::Core::IndexBytes(const Index& index) const {
  return store_.ApproximateBytes(storage::Space::kIndexes,
                                 storage::PrefixRange(index::IndexKeyPrefix(index.number)));
}

void Engine::Core::StartTtl() {
  expiry::TtlSweeper::Hooks hooks;
  hooks.databases = [this] {
    std::vector<documents::DatabaseHandle> stored = catalog_->Stored();
    // A database created since the last sweep does not have its indexes yet, and may not be opened
    // again.
    for (const documents::DatabaseHandle& database : stored) FollowIndexPolicy(*database);
    return stored;
  };
  hooks.policies = [this](const documents::Database& database) { return TtlPoliciesOf(database); };
  hooks.get = [this](const documents::Database& database, const model::DocumentPath& path) {
    return reader_.Present(model::DocumentKey(database.number, path));
  };
  hooks.commit = [this](documents::Database& database, request::Write write,
                        Callback<void(Status)> done) {
    std::vector<request::Write> writes;
    writes.push_back(std::move(write));
    Admit(database, std::move(writes), transactions_.NewOwner(), ClientKey::kInternal,
          [done = std::move(done)](const Result<request::CommitResult>& result) mutable {
            done(result.status());
          });
  };
  hooks.commits = [this] { return counters_.commits.value() + counters_.commit_errors.value(); };
  ttl_sweeper_ = std::make_unique<expiry::TtlSweeper>(store_, clock_, indexes_, std::move(hooks));
  ttl_sweeper_->Start();
}

// The policies set by command, and those of the configuration for other collection groups.
std::vector<TtlPolicy> Engine::Core::TtlPoliciesOf(const documents::Database& database) const {
  std::vector<TtlPolicy> policies = ttl_policies_->Of(database.number);
  for (const auto config = index_policy_.Of(database);
       const TtlPolicy& configured : config->ttl_policies) {
    const bool is_set = std::any_of(policies.begin(), policies.end(), [&](const TtlPolicy& policy) {
      return policy.collection_group == configured.collection_group;
    });
    if (!is_set) policies.push_back(configured);
  }
  return policies;
}

Status Engine::Core::SetTtlPolicy(documents::Database& database, const TtlPolicy& policy) {
  const std::vector<TtlPolicy> others = ttl_policies_->Of(database.number);
  const bool is_new = std::none_of(others.begin(), others.end(), [&](const TtlPolicy& other) {
    return other.collection_group == policy.collection_group;
  });
  if (is_new && others.size() >= expiry::kTtlPoliciesMax) {
    return Status(Code::kFailedPrecondition, "a database has at most " +
                                                 std::to_string(expiry::kTtlPoliciesMax) +
                                                 " TTL policies that were set by command");
  }
  RETURN_IF_ERROR(catalog_->BeginCreation(database, ClientKey::kInternal));
  // After all moments at which somebody may have read an earlier database of this name.
  const auto created = model::Timestamp::FromMicros(commit_clock_.ReadTime().micros() + 1);
  bool is_deleted = false;
  const auto stage = [&](storage::Batch* batch) {
    is_deleted = database.is_deleted;
    if (is_deleted) return;
    expiry::TtlPolicies::StageSet(database.number, policy, batch);
    if (database.is_on_disk) return;
    batch->Put(storage::Space::kMeta,
               std::string(documents::kDatabaseKeyPrefix) + database.name.text(),
               documents::EncodeDatabaseRecord({database.number, created}));
  };
  const Status stored = committer_.RunStep(stage, [&] {
    is_deleted = is_deleted || database.is_deleted;
    if (is_deleted) return;
    if (!database.is_on_disk) database.created_micros = created.micros();
    database.is_on_disk = true;
    ttl_policies_->Set(database.number, policy);
  });
  catalog_->EndCreation(database);
  RETURN_IF_ERROR(stored);
  if (is_deleted) return documents::DatabaseDeleted(database);
  ApplyIndexPolicy(database);
  return Status();
}

Status Engine::Core::ClearTtlPolicy(documents::Database& database,
                                    const std::string& collection_group) {
  const auto is_of_group = [&](const TtlPolicy& policy) {
    return policy.collection_group == collection_group;
  };
  const std::vector<TtlPolicy> stored = ttl_policies_->Of(database.number);
  if (std::none_of(stored.begin(), stored.end(), is_of_group)) {
    const std::vector<TtlPolicy> in_force = TtlPoliciesOf(database);
    if (std::none_of(in_force.begin(), in_force.end(), is_of_group)) {
      return Status(Code::kNotFound,
                    "the collection group '" + collection_group + "' has no TTL policy");
    }
    return Status(Code::kFailedPrecondition,
                  "the TTL policy of the collection group '" + collection_group +
                      "' comes from the index configuration: change the file");
  }
  RETURN_IF_ERROR(committer_.RunStep(
      [&](storage::Batch* batch) {
        expiry::TtlPolicies::StageClear(database.number, collection_group, batch);
      },
      [&] { ttl_policies_->Clear(database.number, collection_group); }));
  ApplyIndexPolicy(database);
  return Status();
}

}  // namespace hearth::engine
