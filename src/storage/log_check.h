// Private to this folder: distinguishes the torn end of a RocksDB log from damage. RocksDB's own
// recovery modes cannot: they treat a record whose length or type byte has changed as the end of
// the log.
#pragma once

#include <string>

#include "base/status.h"
#include "rocksdb/file_system.h"

namespace hearth::storage {

// Checks the write-ahead logs and the MANIFEST in the RocksDB folder `path`, and cuts off the torn
// end that a killed process may have left in the newest write-ahead log.
//
// Errors: DataLoss, with file and offset, if a complete record is damaged, if a log that must be
// complete is not, or if CURRENT does not name a MANIFEST; Unavailable for I/O errors.
Status CheckAndMendLogs(rocksdb::FileSystem& files, const std::string& path);

}  // namespace hearth::storage
