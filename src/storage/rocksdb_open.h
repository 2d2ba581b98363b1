// Private to this folder: opens a store on a given file system instead of the machine's own.
#pragma once

#include <memory>

#include "rocksdb/file_system.h"
#include "storage/rocksdb_store.h"

namespace hearth::storage {

// Like OpenRocksDbStore, but reads and writes all data through `files`.
Result<std::unique_ptr<Store>> OpenRocksDbStoreOn(const RocksDbOptions& options,
                                                  std::shared_ptr<rocksdb::FileSystem> files);

}  // namespace hearth::storage
