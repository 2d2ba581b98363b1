// Private to this folder: brings a database back to work after an I/O error.
#pragma once

#include <optional>
#include <thread>

#include "base/metrics.h"
#include "base/mutex.h"
#include "base/status.h"
#include "rocksdb/db.h"
#include "storage/error_listener.h"
#include "storage/wal_guard.h"

namespace hearth::storage {

// Makes sure that the log holds acknowledged commits only, has RocksDB resume, and begins a new
// log. This runs in a thread of its own, because RocksDB 7.8 can wait for ever while it resumes: a
// flush job that finds an error of another job when it begins is dropped, and waited for all the
// same. Commits are refused then until the next start, but neither they nor the shutdown hang.
//
// Threads: the committer's. Ownership: borrows all that it is made of.
class Healer {
 public:
  // `unused` is a column family without data. `healed` counts the failures that were overcome.
  Healer(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& unused, WalGuard& wal, ErrorListener& errors,
         Counter& healed)
      : db_(db), unused_(unused), wal_(wal), errors_(errors), healed_(healed) {}
  // Gives up on a healing that is under way; the database can only be closed then.
  ~Healer();
  Healer(const Healer&) = delete;
  Healer& operator=(const Healer&) = delete;

  // OK when there is no trouble, or no more. Otherwise the error that lasts, or Unavailable when
  // the healing takes longer than a commit should wait; it then goes on, and the next call waits
  // for it again.
  Status HealIfTroubled() EXCLUDES_LOCK(mutex_);

 private:
  Status Heal();
  Status BeginNewLog();

  rocksdb::DB& db_;
  rocksdb::ColumnFamilyHandle& unused_;
  WalGuard& wal_;
  ErrorListener& errors_;
  Counter& healed_;
  std::thread healing_;  // Joinable while a healing is under way or its outcome not yet taken.
  Mutex mutex_;          // Leaf lock.
  CondVar changed_;
  std::optional<Status> outcome_ GUARDED_BY(mutex_);
};

}  // namespace hearth::storage
