// Private to this folder: removes failed commits from RocksDB's write-ahead log.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "rocksdb/file_system.h"
#include "storage/wal_mark.h"

namespace hearth::storage {

class GuardedWal;

// A file system that tracks how much of the write-ahead log has been acknowledged. If a write or a
// sync fails, RocksDB leaves the record in the log, where the next start would find it: the failed
// commit would take effect after all. CutBack removes the record before the failure is reported.
//
// Threads: only the committer calls Writable, Acknowledge, CutBack and Abandoning, or the healer
// while the committer waits for it. The file system itself is safe for concurrent use. Ownership:
// shared with the RocksDB environment made from it.
class WalGuard final : public rocksdb::FileSystemWrapper {
 public:
  explicit WalGuard(const std::shared_ptr<rocksdb::FileSystem>& base) : FileSystemWrapper(base) {}

  // Keeps `mark` up to date from now on. Call this before a database is opened.
  void Keep(std::unique_ptr<WalMark> mark) { mark_ = std::move(mark); }
  WalMark& mark() { return *mark_; }

  // False if the newest log has been cut or needs to be: no commit may be written to it.
  bool Writable() const EXCLUDES_LOCK(mutex_);

  // Marks everything in the newest log as belonging to successful commits.
  void Acknowledge() EXCLUDES_LOCK(mutex_);

  // Cuts the newest log back to its acknowledged part, and syncs it. Does nothing if the log holds
  // nothing else. A cut log accepts no more records, because RocksDB no longer knows its position
  // in it. If this fails, the log may hold the failed commit: try again before anything else.
  rocksdb::IOStatus CutBack() EXCLUDES_LOCK(mutex_);

  // Why the last write to the log failed. RocksDB itself gets "Busy".
  rocksdb::IOStatus failure() const EXCLUDES_LOCK(mutex_);

  // When RocksDB switches to a new log, it first writes the rest of its buffer, including the
  // failed record, to the old one. During the lifetime of this object a cut log discards such
  // writes.
  class Abandoning {
   public:
    explicit Abandoning(WalGuard& guard) : guard_(guard) { guard_.abandoning_ = true; }
    ~Abandoning() { guard_.abandoning_ = false; }
    Abandoning(const Abandoning&) = delete;
    Abandoning& operator=(const Abandoning&) = delete;

   private:
    WalGuard& guard_;
  };

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  const char* Name() const override { return "hearth.wal_guard"; }

 private:
  friend class GuardedWal;

  // The log that RocksDB writes to. It stays open at least until the next one is open, and only the
  // committer's own thread opens one, so the committer may use it without the lock.
  GuardedWal* Newest() const EXCLUDES_LOCK(mutex_);

  std::unique_ptr<WalMark> mark_;
  std::atomic<bool> abandoning_ = false;
  mutable Mutex mutex_;                               // Leaf lock.
  std::vector<GuardedWal*> open_ GUARDED_BY(mutex_);  // Oldest first; RocksDB owns them.
  rocksdb::IOStatus failure_ GUARDED_BY(mutex_);
};

}  // namespace hearth::storage
