#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "documents/keys.h"
#include "model/names.h"

namespace hearth::documents {

// One database in the store. It exists in memory from its first use and on disk from its first
// commit. Threads: safe for concurrent use.
struct Database {
  Database(model::DatabaseName database_name, model::DatabaseNumber database_number, bool on_disk)
      : name(std::move(database_name)), number(database_number), is_on_disk(on_disk) {}

  const model::DatabaseName name;
  const model::DatabaseNumber number;
  std::atomic<bool> is_on_disk;  // Set only on the committer's thread.
  // The version of the index configuration that its indexes follow.
  std::atomic<uint64_t> index_policy_version = 0;
};

}  // namespace hearth::documents
