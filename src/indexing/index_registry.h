#pragma once

#include <memory>
#include <utility>

#include "base/mutex.h"
#include "index/index_set.h"

namespace hearth::indexing {

// The indexes of all databases as they are now.
//
// Threads: safe for concurrent use; changed on the committer's thread only, between groups. Who
// reads entries takes the set first and the storage snapshot after it: what is ready in the set is
// complete in the snapshot, and nothing of it is removed while anybody holds the set.
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
