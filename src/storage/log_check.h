// Private to this folder: tells the torn end of a RocksDB log from damage. RocksDB's own recovery
// modes cannot: they take a record whose length or type byte has changed for the end of the log.
#pragma once

#include <string>

#include "base/status.h"
#include "rocksdb/file_system.h"

namespace hearth::storage {

// Checks the write-ahead logs and the MANIFEST in the RocksDB folder `path`, and cuts off the torn
// end that a killed process may have left in the newest write-ahead log.
//
// Errors: DataLoss, naming file and offset, where a complete record is damaged, where a log that
// had to be complete is not, or where CURRENT does not name a MANIFEST; Unavailable for I/O.
Status CheckAndMendLogs(rocksdb::FileSystem& files, const std::string& path);

}  // namespace hearth::storage
