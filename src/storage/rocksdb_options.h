// Private to this folder: how Hearth configures RocksDB, and why.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "storage/rocksdb_store.h"
#include "storage/store.h"

namespace hearth::storage {

// The column families, in the order of Space. RocksDB's own "default" family comes after them and
// holds none of our data.
inline constexpr std::array<const char*, kSpaces> kFamilyNames = {"meta", "documents", "history",
                                                                  "log", "indexes"};

// The cache that all spaces share.
std::shared_ptr<rocksdb::Cache> NewBlockCache(size_t bytes_max);

// Options of the database as a whole; the caller sets the environment.
rocksdb::DBOptions DatabaseOptions(const RocksDbOptions& options,
                                   const std::shared_ptr<rocksdb::Cache>& cache);

// One descriptor per Space, then the default family. `expiry` filters the stamped spaces.
std::vector<rocksdb::ColumnFamilyDescriptor> FamilyDescriptors(
    const RocksDbOptions& options, const std::shared_ptr<rocksdb::Cache>& cache,
    const std::shared_ptr<rocksdb::CompactionFilterFactory>& expiry);

}  // namespace hearth::storage
