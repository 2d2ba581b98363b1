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

// kAuto: no query is refused; indexes are made when they are needed. kStrict: what Firestore would
// refuse for want of an index is refused.
enum class IndexMode : uint8_t { kAuto, kStrict };

// The index configuration of databases: by their names, or by database id, whatever the project.
//
// Threads: safe for concurrent use.
class IndexPolicy {
 public:
  // `database`: an id, or the name of one database, for which that of its id does not count.
  void Set(std::string database, index::IndexConfig config) EXCLUDES_LOCK(mutex_);
  // Never null: an empty configuration where there is none.
  std::shared_ptr<const index::IndexConfig> Of(const documents::Database& database) const
      EXCLUDES_LOCK(mutex_);
  // Grows with every change.
  uint64_t version() const { return version_; }

 private:
  mutable Mutex mutex_;  // Leaf lock.
  // Shared with the queries that look at it.
  std::map<std::string, std::shared_ptr<const index::IndexConfig>, std::less<>> configs_
      GUARDED_BY(mutex_);
  std::atomic<uint64_t> version_ = 1;
};

}  // namespace hearth::indexing
