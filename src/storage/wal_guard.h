// Private to this folder: takes failed commits back out of RocksDB's write-ahead log.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "rocksdb/file_system.h"

namespace hearth::storage {

class GuardedWal;

// A file system that knows how much of the write-ahead log has been acknowledged. When a write or
// a sync fails, RocksDB leaves the record in the log, where the next start would find it: a commit
// that failed and happened after all. CutBack removes it before the failure is reported.
//
// Threads: Writable, Acknowledge, CutBack and Abandoning are the committer's, or the healer's while
// that one waits; the file system
// itself is safe for concurrent use. Ownership: shared with the RocksDB environment made of it.
class WalGuard final : public rocksdb::FileSystemWrapper {
 public:
  explicit WalGuard(const std::shared_ptr<rocksdb::FileSystem>& base) : FileSystemWrapper(base) {}

  // False when the newest log has been cut, or needs to be: no commit may go there.
  bool Writable() const EXCLUDES_LOCK(mutex_);

  // All that the newest log holds belongs to commits that succeeded.
  void Acknowledge() EXCLUDES_LOCK(mutex_);

  // Cuts the newest log back to what was acknowledged, and syncs it; nothing to do if it holds
  // nothing else. The log takes no more records then, because RocksDB has lost count of its place
  // in it. When this fails, the log may hold the failed commit: try again before anything else.
  rocksdb::IOStatus CutBack() EXCLUDES_LOCK(mutex_);

  // Why a write to the log failed last. RocksDB itself is told "Busy".
  rocksdb::IOStatus failure() const EXCLUDES_LOCK(mutex_);

  // When RocksDB turns to a new log, it first writes what is left in its buffer, the failed record
  // included, to the old one. Within the life of this object a log that was cut swallows that.
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
  const char* Name() const override { return "hearth.wal_guard"; }

 private:
  friend class GuardedWal;

  // The log that RocksDB writes to. It stays open at least until the next one is, and only the
  // committer's own thread opens one, so the committer may use it without the lock.
  GuardedWal* Newest() const EXCLUDES_LOCK(mutex_);

  std::atomic<bool> abandoning_ = false;
  mutable Mutex mutex_;                               // Leaf lock.
  std::vector<GuardedWal*> open_ GUARDED_BY(mutex_);  // Oldest first; RocksDB owns them.
  rocksdb::IOStatus failure_ GUARDED_BY(mutex_);
};

}  // namespace hearth::storage
