// Private to this folder: remembers which write-ahead logs must exist, and how long they and the
// MANIFEST must be.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "rocksdb/file_system.h"

namespace hearth::storage {

// The acknowledged part of one write-ahead log, or of the MANIFEST.
struct WalExtent {
  uint64_t number = 0;
  uint64_t bytes = 0;

  bool operator==(const WalExtent&) const = default;
};

// A small file beside the database. It is a lower bound: every file that it lists exists and is at
// least that long, unless it was lost. RocksDB itself does not notice a missing log, and takes a
// shorter MANIFEST for an earlier state.
//
// The file is overwritten after each commit, without a sync: a killed process leaves it exact, and
// after a power failure it is as old as the last time the system wrote the page back. It is synced
// only before a log is deleted. docs/formats/storage.md has its layout.
//
// Threads: safe for concurrent use. Ownership: the file system must outlive it.
class WalMark {
 public:
  // Logs beyond this number are not listed, the oldest first.
  static constexpr size_t kLogsMax = 254;

  // What Open found.
  enum class Found {
    kNothing,  // No file, or one that was never written: nothing is known about the logs.
    kLogs,     // See logs().
    kDamage,   // Neither copy of the list is intact.
  };

  // Opens the file `name`; creates it, empty, if it is missing. Errors: as FromRocksDb.
  static Result<std::unique_ptr<WalMark>> Open(rocksdb::FileSystem& files, const std::string& name);

  Found found() const { return found_; }
  std::vector<WalExtent> logs() const EXCLUDES_LOCK(mutex_);
  WalExtent manifest() const EXCLUDES_LOCK(mutex_);  // Number 0: unknown.

  // Notes that the log has at least `bytes` acknowledged bytes. Not synced. An error is of no
  // consequence: the bound in the file is then lower than it could be.
  void Extend(uint64_t number, uint64_t bytes) EXCLUDES_LOCK(mutex_);
  // The same for the newest MANIFEST.
  void ExtendManifest(uint64_t number, uint64_t bytes) EXCLUDES_LOCK(mutex_);

  // Replaces the list of logs, and syncs it.
  rocksdb::IOStatus Reset(std::vector<WalExtent> logs) EXCLUDES_LOCK(mutex_);

  // Removes a log that is about to be deleted, and syncs the list.
  rocksdb::IOStatus Remove(uint64_t number) EXCLUDES_LOCK(mutex_);

 private:
  explicit WalMark(std::unique_ptr<rocksdb::FSRandomRWFile> file) : file_(std::move(file)) {}

  Status Load() EXCLUDES_LOCK(mutex_);
  rocksdb::IOStatus WriteOne() REQUIRES_LOCK(mutex_);
  // Both copies: an older one must not come back with a log that no longer exists.
  rocksdb::IOStatus WriteBoth() REQUIRES_LOCK(mutex_);
  rocksdb::IOStatus Sync() EXCLUDES_LOCK(mutex_);

  const std::unique_ptr<rocksdb::FSRandomRWFile> file_;
  Found found_ = Found::kNothing;
  mutable Mutex mutex_;  // Held while the file is written, but not while it is synced.
  std::vector<WalExtent> logs_ GUARDED_BY(mutex_);  // By number, ascending.
  WalExtent manifest_ GUARDED_BY(mutex_);
  uint64_t generation_ GUARDED_BY(mutex_) = 0;
  bool must_sync_ GUARDED_BY(mutex_) = false;  // A log was removed since the last sync.
};

}  // namespace hearth::storage
