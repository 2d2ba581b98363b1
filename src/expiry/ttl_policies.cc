#include "expiry/ttl_policies.h"

#include "base/status_macros.h"
#include "documents/keys.h"

namespace hearth::expiry {
namespace {

using index::TtlPolicy;
using model::DatabaseNumber;
using storage::Space;

std::string PolicyKey(model::DatabaseNumber database, const std::string& collection_group) {
  return std::string(documents::kTtlKeyPrefix) + model::DatabaseKeyPrefix(database) +
         collection_group;
}

}  // namespace

Result<std::unique_ptr<TtlPolicies>> TtlPolicies::Load(const storage::Store& store) {
  auto policies = std::make_unique<TtlPolicies>();
  const auto snapshot = store.NewSnapshot();
  const auto cursor = snapshot->Scan(Space::kMeta, storage::PrefixRange(documents::kTtlKeyPrefix),
                                     storage::Direction::kForward);
  for (; cursor->Valid(); cursor->Next()) {
    const std::string_view key = cursor->key().substr(documents::kTtlKeyPrefix.size());
    ASSIGN_OR_RETURN(const uint32_t database, model::DecodeUint32(key.substr(0, sizeof(uint32_t))));
    ASSIGN_OR_RETURN(const uint64_t offset,
                     model::DecodeUint64(cursor->value().substr(0, sizeof(uint64_t))));
    Result<model::FieldPath> field =
        model::FieldPath::Parse(cursor->value().substr(sizeof(uint64_t)));
    if (!field.ok()) return Status(Code::kDataLoss, "a stored TTL policy is damaged");
    policies->Set(model::DatabaseNumber{database},
                  {std::string(key.substr(sizeof(uint32_t))), *std::move(field),
                   std::chrono::seconds(offset)});
  }
  RETURN_IF_ERROR(cursor->status());
  return policies;
}

std::vector<TtlPolicy> TtlPolicies::Of(model::DatabaseNumber database) const {
  MutexLock lock(mutex_);
  std::vector<TtlPolicy> policies;
  for (auto each = policies_.lower_bound({database, ""});
       each != policies_.end() && each->first.first == database; ++each) {
    policies.push_back(each->second);
  }
  return policies;
}

void TtlPolicies::StageSet(model::DatabaseNumber database, const TtlPolicy& policy,
                           storage::Batch* batch) {
  batch->Put(
      Space::kMeta, PolicyKey(database, policy.collection_group),
      model::EncodeUint64(static_cast<uint64_t>(policy.offset.count())) + policy.field.ToString());
}

void TtlPolicies::StageClear(model::DatabaseNumber database, const std::string& collection_group,
                             storage::Batch* batch) {
  batch->Delete(Space::kMeta, PolicyKey(database, collection_group));
}

void TtlPolicies::StageClearAll(model::DatabaseNumber database, storage::Batch* batch) const {
  for (const TtlPolicy& policy : Of(database)) {
    StageClear(database, policy.collection_group, batch);
  }
}

void TtlPolicies::ClearAll(model::DatabaseNumber database) {
  MutexLock lock(mutex_);
  std::erase_if(policies_, [&](const auto& entry) { return entry.first.first == database; });
}

void TtlPolicies::Set(model::DatabaseNumber database, TtlPolicy policy) {
  MutexLock lock(mutex_);
  const std::string collection_group = policy.collection_group;
  policies_.insert_or_assign({database, collection_group}, std::move(policy));
}

void TtlPolicies::Clear(model::DatabaseNumber database, const std::string& collection_group) {
  MutexLock lock(mutex_);
  policies_.erase({database, collection_group});
}

}  // namespace hearth::expiry
