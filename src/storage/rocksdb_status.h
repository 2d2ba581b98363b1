// Private to this folder: converts RocksDB's statuses to ours.
#pragma once

#include "base/status.h"
#include "rocksdb/status.h"

namespace hearth::storage {

// NoSpace becomes ResourceExhausted, Corruption becomes DataLoss, and every other failure becomes
// Unavailable: to the layers above, the disk failed. NotFound and Incomplete are answers, not
// failures; callers handle them first.
Status FromRocksDb(const rocksdb::Status& status);

}  // namespace hearth::storage
