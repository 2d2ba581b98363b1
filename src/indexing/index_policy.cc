#include "indexing/index_policy.h"

#include <utility>

namespace hearth::indexing {

void IndexPolicy::Set(std::string database, index::IndexConfig config) {
  MutexLock lock(mutex_);
  configs_[std::move(database)] = std::make_shared<const index::IndexConfig>(std::move(config));
  ++version_;
}

std::shared_ptr<const index::IndexConfig> IndexPolicy::Of(
    const documents::Database& database) const {
  static const auto kEmpty = std::make_shared<const index::IndexConfig>();
  MutexLock lock(mutex_);
  auto found = configs_.find(database.name.text());
  if (found == configs_.end()) found = configs_.find(database.name.database());
  return found == configs_.end() ? kEmpty : found->second;
}

}  // namespace hearth::indexing
