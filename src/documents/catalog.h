#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "documents/database.h"
#include "storage/store.h"

namespace hearth::documents {

inline constexpr size_t kDatabasesMax = 100'000;

// All databases by name. Threads: safe for concurrent use. Ownership: owns the databases, which
// live as long as it does.
class Catalog {
 public:
  // Reads the databases that are on disk.
  static Result<std::unique_ptr<Catalog>> Load(const storage::Store& store);

  // The database called `name`, created on first use. ResourceExhausted beyond kDatabasesMax.
  Result<Database*> Open(const model::DatabaseName& name) EXCLUDES_LOCK(mutex_);

  // The databases that are on disk.
  std::vector<Database*> Stored() const EXCLUDES_LOCK(mutex_);

 private:
  mutable Mutex mutex_;  // Leaf lock.
  uint32_t next_number_ GUARDED_BY(mutex_) = 1;
  std::unordered_map<std::string, std::unique_ptr<Database>> databases_ GUARDED_BY(mutex_);
};

}  // namespace hearth::documents
