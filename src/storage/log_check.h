// Private to this folder: distinguishes the torn end of a RocksDB log from damage. RocksDB's own
// recovery modes cannot: they treat a record whose length or type byte has changed as the end of
// the log.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "rocksdb/file_system.h"
#include "storage/wal_mark.h"

namespace hearth::storage {

// What to do if acknowledged commits are missing from the write-ahead logs.
enum class LogLoss { kRefused, kAccepted };

struct LogCheckOptions {
  std::string path;                     // The RocksDB folder.
  std::vector<WalExtent> acknowledged;  // What the write-ahead logs must have, at least.
  WalExtent manifest;                   // The same for the MANIFEST with this number.
  LogLoss loss = LogLoss::kRefused;
  std::string aside;  // The folder for logs that are not used because of an accepted loss.
};

// Checks the write-ahead logs and the MANIFEST, and cuts off the torn end that a killed process may
// have left in the newest write-ahead log. Logs each cut.
//
// If a loss is accepted, the logs are cut after the last commit before the first loss; what
// followed is kept in `aside`. Returns what is left of the acknowledged logs.
//
// Errors: DataLoss, with the file's name, if a complete record is damaged, if a log that must be
// there is missing or too short, if the MANIFEST is, or if CURRENT does not name one; Unavailable
// for I/O errors. If it fails, it has changed nothing.
Result<std::vector<WalExtent>> CheckAndMendLogs(rocksdb::FileSystem& files,
                                                const LogCheckOptions& options);

}  // namespace hearth::storage
