#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "index/index_config.h"
#include "model/document_key.h"
#include "storage/store.h"

namespace hearth::expiry {

// Of one database; those of the configuration are limited like declared indexes.
inline constexpr size_t kTtlPoliciesMax = 500;

// The TTL policies set by command: stored with the data, by database and collection group. They
// take precedence over those of the configuration.
//
//   kMeta  "ttl/", database (4), collection id  ->  offset in seconds (8), field path
//
// Threads: safe for concurrent use.
class TtlPolicies {
 public:
  static Result<std::unique_ptr<TtlPolicies>> Load(const storage::Store& store);

  std::vector<index::TtlPolicy> Of(model::DatabaseNumber database) const EXCLUDES_LOCK(mutex_);

  // Stage the change for the store; call Set, Clear or ClearAll once it is stored.
  static void StageSet(model::DatabaseNumber database, const index::TtlPolicy& policy,
                       storage::Batch* batch);
  static void StageClear(model::DatabaseNumber database, const std::string& collection_group,
                         storage::Batch* batch);
  void StageClearAll(model::DatabaseNumber database, storage::Batch* batch) const
      EXCLUDES_LOCK(mutex_);
  void Set(model::DatabaseNumber database, index::TtlPolicy policy) EXCLUDES_LOCK(mutex_);
  void Clear(model::DatabaseNumber database, const std::string& collection_group)
      EXCLUDES_LOCK(mutex_);
  void ClearAll(model::DatabaseNumber database) EXCLUDES_LOCK(mutex_);

 private:
  mutable Mutex mutex_;  // Leaf lock.
  std::map<std::pair<model::DatabaseNumber, std::string>, index::TtlPolicy> policies_
      GUARDED_BY(mutex_);
};

}  // namespace hearth::expiry
