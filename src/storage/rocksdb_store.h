#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "storage/store.h"

namespace hearth {
class Metrics;
}

namespace hearth::storage {

// The version of the byte layout that this program reads and writes: docs/formats/storage.md.
// Data of a format from kOldestFormat on is upgraded when it is opened.
inline constexpr int kFormat = 2;
inline constexpr int kOldestFormat = 1;

// Descriptors beyond `open_tables_max` that a store may use at once: the write-ahead logs, the
// MANIFEST, the lock, the mark, folders, and what a flush and a compaction read and write.
inline constexpr int kFilesBesidesTables = 64;

struct RocksDbOptions {
  // The data folder. Created if missing; its parent must exist.
  std::string path;
  // Bounds the memory for data on disk: blocks, indexes, filters, and written data that is not
  // flushed yet.
  size_t block_cache_bytes = size_t{64} << 20;
  // Written data that has not been flushed to a file. Charged to the block cache.
  size_t write_buffer_bytes = size_t{32} << 20;
  // The target size of one file in a compaction. Smaller files mean more to open, larger ones more
  // to rewrite.
  size_t table_file_bytes = size_t{64} << 20;
  // While less than this is free on the disk, CheckRoomToGrow fails. 0: it never does.
  uint64_t reserve_bytes = 0;
  // Open table files; others are reopened on use. A few more descriptors are used for logs, and for
  // files that are being written: see kFilesBesidesTables.
  int open_tables_max = 512;
  // Open even if acknowledged commits are missing from the write-ahead logs, with the state before
  // the first of them.
  bool accept_loss = false;
  Metrics* metrics = nullptr;  // Must outlive the store. Null: no metrics.
};

// Opens the data in `options.path`, or creates it in a folder that is missing or empty. Every
// commit is synced. The returned store holds the folder until it is destroyed.
//
// Errors: FailedPrecondition if the folder is in use, has another format, or holds something else;
// NotFound if its parent is missing; PermissionDenied; ResourceExhausted if the disk is full;
// DataLoss if acknowledged data is damaged; Unavailable for other I/O errors.
Result<std::unique_ptr<Store>> OpenRocksDbStore(const RocksDbOptions& options);

}  // namespace hearth::storage
