// Private to this folder: recovers a database after an I/O error.
#pragma once

#include <optional>
#include <thread>

#include "base/metrics.h"
#include "base/mutex.h"
#include "base/status.h"
#include "rocksdb/db.h"
#include "storage/error_listener.h"
#include "storage/rocksdb_status.h"
#include "storage/wal_guard.h"

namespace hearth::storage {

// Makes sure that the log holds only acknowledged commits, resumes RocksDB, and begins a new log.
// This runs in its own thread, because RocksDB 7.8 can wait forever while it resumes: a flush job
// that finds an error of another job when it begins is dropped, but RocksDB still waits for it.
// Commits are then refused until the next start, but neither they nor the shutdown hang.
//
// Threads: the committer's. Ownership: borrows everything passed to the constructor.
class Healer {
 public:
  // `unused` is a column family without data. `healed` counts the errors that were recovered from.
  Healer(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& unused, WalGuard& wal, ErrorListener& errors,
         const ErrorReports& reports, Counter& healed)
      : db_(db), unused_(unused), wal_(wal), errors_(errors), reports_(reports), healed_(healed) {}
  // Aborts a healing in progress; after that the database can only be closed.
  ~Healer();
  Healer(const Healer&) = delete;
  Healer& operator=(const Healer&) = delete;

  // OK if there is no error, or if it has been recovered from. Otherwise the error that persists,
  // or Unavailable if healing takes longer than a commit should wait. Healing then continues, and
  // the next call waits for it again.
  Status HealIfTroubled() EXCLUDES_LOCK(mutex_);

 private:
  Status Heal();
  Status BeginNewLog();

  rocksdb::DB& db_;
  rocksdb::ColumnFamilyHandle& unused_;
  WalGuard& wal_;
  ErrorListener& errors_;
  const ErrorReports& reports_;
  Counter& healed_;
  std::thread healing_;  // Joinable while healing, and until its outcome is taken.
  Mutex mutex_;          // Leaf lock.
  CondVar changed_;
  std::optional<Status> outcome_ GUARDED_BY(mutex_);
};

}  // namespace hearth::storage
