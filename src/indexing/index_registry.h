#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "index/index_set.h"

namespace hearth::indexing {

// The current indexes of all databases.
//
// Threads: safe for concurrent use; changed only on the committer's thread. The keeper of indexes
// changes it between groups. A group that drops an index changes it before it is stored, when the
// index ceases to be complete, and changes it back if it could not be stored. To read entries, take
// the set first and the storage snapshot after it: if the set is still the current one then, an
// index that is ready in it is complete in the snapshot. None of its entries is removed while the
// set is held.
class IndexRegistry {
 public:
  // An index that a commit dropped: its entries are still there.
  struct Dropped {
    index::Index index;
    std::weak_ptr<const index::IndexSet> last_set;  // Held by readers that may use it.
  };

  std::shared_ptr<const index::IndexSet> Current() const EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return current_;
  }
  void Set(std::shared_ptr<const index::IndexSet> indexes) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    current_ = std::move(indexes);
  }
  void AddDropped(Dropped dropped) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    dropped_.push_back(std::move(dropped));
  }
  std::vector<Dropped> TakeDropped() EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return std::exchange(dropped_, {});
  }

 private:
  mutable Mutex mutex_;  // Leaf lock.
  // Shared with readers and commits.
  std::shared_ptr<const index::IndexSet> current_ GUARDED_BY(mutex_) =
      std::make_shared<const index::IndexSet>();
  std::vector<Dropped> dropped_ GUARDED_BY(mutex_);
};

}  // namespace hearth::indexing
