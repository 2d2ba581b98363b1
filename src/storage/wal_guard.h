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
// Threads: Writable, Acknowledge, CutBack and Discarding are the committer's; the file system
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

  // While RocksDB resumes after an error it writes what is left in its buffer, the failed record
  // included, to the log it abandons. Within the life of this object that is swallowed.
  class Discarding {
   public:
    explicit Discarding(WalGuard& guard) : guard_(guard) { guard_.discarding_ = true; }
    ~Discarding() { guard_.discarding_ = false; }
    Discarding(const Discarding&) = delete;
    Discarding& operator=(const Discarding&) = delete;

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

  std::atomic<bool> discarding_ = false;
  mutable Mutex mutex_;                               // Leaf lock.
  std::vector<GuardedWal*> open_ GUARDED_BY(mutex_);  // Oldest first; RocksDB owns them.
};

}  // namespace hearth::storage
