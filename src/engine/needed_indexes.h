#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "base/mutex.h"
#include "index/index_config.h"
#include "model/document_key.h"
#include "query/normalize.h"

namespace hearth::engine {

// Remembers which indexes Firestore would have asked for, so that a run of an application's tests
// can end with the configuration that it needs.
//
// Threads: safe for concurrent use.
class NeededIndexRecorder {
 public:
  static constexpr size_t kIndexesMax = 10'000;

  void Note(model::DatabaseNumber database, const query::NormalizedQuery& query)
      EXCLUDES_LOCK(mutex_);
  index::IndexConfig Of(model::DatabaseNumber database) const EXCLUDES_LOCK(mutex_);

 private:
  mutable Mutex mutex_;  // Leaf lock.
  size_t indexes_ GUARDED_BY(mutex_) = 0;
  std::map<model::DatabaseNumber, std::set<index::Definition>> needed_ GUARDED_BY(mutex_);
};

}  // namespace hearth::engine
