// Private to this folder: converts RocksDB's statuses to ours.
#pragma once

#include <atomic>
#include <chrono>

#include "base/status.h"
#include "rocksdb/status.h"

namespace hearth::storage {

// NoSpace becomes ResourceExhausted, Corruption becomes DataLoss, and every other failure becomes
// Unavailable: to the layers above, the disk failed. NotFound and Incomplete are answers, not
// failures; callers handle them first. The message is RocksDB's, which names files.
Status FromRocksDb(const rocksdb::Status& status);

// Converts the errors of reads and commits: as FromRocksDb until service begins. From then on
// clients see the errors, so the message tells nothing about the server's files; RocksDB's message
// goes to the log.
//
// Threads: safe for concurrent use.
class ErrorReports {
 public:
  // A client can cause the same error over and over.
  static constexpr int kLinesPerSecondMax = 10;

  void BeginService() { in_service_ = true; }
  Status Of(const rocksdb::Status& status) const;

 private:
  bool MayLog() const;

  std::atomic<bool> in_service_ = false;
  mutable std::atomic<std::chrono::steady_clock::rep> next_line_ = 0;
};

}  // namespace hearth::storage
