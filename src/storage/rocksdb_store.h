#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/status.h"
#include "storage/store.h"

namespace hearth {
class Metrics;
}

namespace hearth::storage {

// The number of the byte layout that this program reads and writes: docs/formats/storage.md.
inline constexpr int kFormat = 1;

struct RocksDbOptions {
  // The data folder. Made when missing; its parent must exist.
  std::string path;
  // Bounds all that stays in memory of the data on disk: blocks, indexes, filters, and what is
  // written but not yet flushed.
  size_t block_cache_bytes = size_t{64} << 20;
  // Written data that waits in memory for its file. Charged to the block cache.
  size_t write_buffer_bytes = size_t{32} << 20;
  // What a compaction aims at for one file. Smaller files are more to open, larger ones more to
  // rewrite.
  size_t table_file_bytes = size_t{64} << 20;
  Metrics* metrics = nullptr;  // Must outlive the store. Null: nobody looks.
};

// Opens the data in `options.path`, or makes it in a folder that is missing or empty. Every commit
// is synced. The folder belongs to the returned store until that is destroyed.
//
// Errors: FailedPrecondition when the folder is in use, is of another format, or holds something
// else; NotFound when its parent is missing; PermissionDenied; ResourceExhausted when the disk is
// full; DataLoss when acknowledged data is damaged; Unavailable for other I/O.
Result<std::unique_ptr<Store>> OpenRocksDbStore(const RocksDbOptions& options);

}  // namespace hearth::storage
