#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "documents/database.h"
#include "index/index_config.h"

namespace hearth::indexing {

// kAuto: no query is refused; indexes are made when they are needed. kStrict: queries that
// Firestore would refuse for a missing index are refused.
enum class IndexMode : uint8_t { kAuto, kStrict };

// The index configuration of databases: by name, or by database id in any project.
//
// Threads: safe for concurrent use.
class IndexPolicy {
 public:
  // `database`: an id, or the name of one database. A configuration by name takes precedence over
  // the one by id.
  void Set(std::string database, index::IndexConfig config) EXCLUDES_LOCK(mutex_);
  // Never null: an empty configuration if none was set.
  std::shared_ptr<const index::IndexConfig> Of(const documents::Database& database) const
      EXCLUDES_LOCK(mutex_);
  // Increases with every change.
  uint64_t version() const { return version_; }

 private:
  mutable Mutex mutex_;  // Leaf lock.
  // Shared with the queries that read it.
  std::map<std::string, std::shared_ptr<const index::IndexConfig>, std::less<>> configs_
      GUARDED_BY(mutex_);
  std::atomic<uint64_t> version_ = 1;
};

}  // namespace hearth::indexing
