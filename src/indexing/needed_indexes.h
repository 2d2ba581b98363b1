#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "base/mutex.h"
#include "index/index_config.h"
#include "index/index_config_order.h"
#include "model/document_key.h"
#include "query/normalize.h"

namespace hearth::indexing {

// Records which indexes Firestore would have required, so that a test run of an application can end
// with the configuration that it needs.
//
// Threads: safe for concurrent use.
class NeededIndexRecorder {
 public:
  static constexpr size_t kIndexesMax = 10'000;
  // So that the queries of one database do not hide what the others need.
  static constexpr size_t kIndexesOfDatabaseMax = 2'000;

  void Note(model::DatabaseNumber database, const query::NormalizedQuery& query)
      EXCLUDES_LOCK(mutex_);
  // Drops the records of a database that no longer exists.
  void Forget(model::DatabaseNumber database) EXCLUDES_LOCK(mutex_);
  // Valid, and sufficient for all recorded queries as long as there are fewer indexes than the
  // limits above.
  index::IndexConfig Of(model::DatabaseNumber database) const EXCLUDES_LOCK(mutex_);

 private:
  struct Needed {
    std::set<index::Definition> definitions;
    std::map<index::IndexKey, index::VectorIndex> vectors;
  };

  mutable Mutex mutex_;  // Leaf lock.
  size_t indexes_ GUARDED_BY(mutex_) = 0;
  std::map<model::DatabaseNumber, Needed> needed_ GUARDED_BY(mutex_);
};

}  // namespace hearth::indexing
