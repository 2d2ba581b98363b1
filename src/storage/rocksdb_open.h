// Private to this folder: opens a store on another file system than the machine's own.
#pragma once

#include <memory>

#include "rocksdb/file_system.h"
#include "storage/rocksdb_store.h"

namespace hearth::storage {

// As OpenRocksDbStore, with all data read and written through `files`.
Result<std::unique_ptr<Store>> OpenRocksDbStoreOn(const RocksDbOptions& options,
                                                  std::shared_ptr<rocksdb::FileSystem> files);

}  // namespace hearth::storage
