#pragma once

#include <memory>
#include <utility>

#include "base/mutex.h"
#include "index/index_set.h"

namespace hearth::indexing {

// The current indexes of all databases.
//
// Threads: safe for concurrent use; changed only on the committer's thread, between groups. To read
// entries, take the set first and the storage snapshot after it: an index that is ready in the set
// is complete in the snapshot, and none of its entries is removed while the set is held.
class IndexRegistry {
 public:
  std::shared_ptr<const index::IndexSet> Current() const EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return current_;
  }
  void Set(std::shared_ptr<const index::IndexSet> indexes) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    current_ = std::move(indexes);
  }

 private:
  mutable Mutex mutex_;  // Leaf lock.
  // Shared with readers and commits.
  std::shared_ptr<const index::IndexSet> current_ GUARDED_BY(mutex_) =
      std::make_shared<const index::IndexSet>();
};

}  // namespace hearth::indexing
