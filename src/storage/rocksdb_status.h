// Private to this folder: RocksDB's statuses as ours.
#pragma once

#include "base/status.h"
#include "rocksdb/status.h"

namespace hearth::storage {

// NoSpace becomes ResourceExhausted, Corruption DataLoss, and every other failure Unavailable: to
// the layers above, the disk did not do what it was asked. NotFound and Incomplete are answers, not
// failures; callers handle them first.
Status FromRocksDb(const rocksdb::Status& status);

}  // namespace hearth::storage
