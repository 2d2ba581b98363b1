#include "storage/wal_guard.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "storage/log_records.h"

namespace hearth::storage {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// One write-ahead log.
//
// Threads: the committer appends and cuts; a background flush may sync at the same time.
class GuardedWal final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  GuardedWal(std::unique_ptr<rocksdb::FSWritableFile> file, uint64_t number, WalGuard& guard)
      : FSWritableFileOwnerWrapper(std::move(file)), number_(number), guard_(guard) {
    MutexLock lock(guard_.mutex_);
    guard_.open_.push_back(this);
  }
  ~GuardedWal() override {
    MutexLock lock(guard_.mutex_);
    std::erase(guard_.open_, this);
  }

  bool Writable() const { return state_ == State::kGood; }

  void Acknowledge() {
    // Bytes discarded by a cut log must never count as a commit.
    CHECK(Writable());
    acknowledged_bytes_ = appended_bytes_;
    guard_.mark_->Extend(number_, acknowledged_bytes_);
  }

  IOStatus CutBack() {
    if (state_ == State::kGood && !torn_ && appended_bytes_ == acknowledged_bytes_) {
      return IOStatus::OK();
    }
    if (state_ == State::kCut) return IOStatus::OK();
    state_ = State::kTainted;
    IOStatus status = target()->Truncate(acknowledged_bytes_, IOOptions(), nullptr);
    if (status.ok()) status = target()->Fsync(IOOptions(), nullptr);
    if (status.ok()) state_ = State::kCut;
    return status;
  }

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    if (state_ != State::kGood) return AppendToAbandoned();
    return Count(data.size(), target()->Append(data, options, debug));
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& verification,
                  IODebugContext* debug) override {
    if (state_ != State::kGood) return AppendToAbandoned();
    return Count(data.size(), target()->Append(data, options, verification, debug));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return SyncWith([&] { return target()->Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return SyncWith([&] { return target()->Fsync(options, debug); });
  }

 private:
  enum class State {
    kGood,
    kTainted,  // May hold a failed commit.
    kCut,      // Holds acknowledged commits only, all of them synced.
  };

  IOStatus AppendToAbandoned() const {
    if (state_ == State::kCut && guard_.abandoning_) return IOStatus::OK();
    return Abandoned();
  }

  // RocksDB syncs a cut log once more before it closes it.
  template <typename Function>
  IOStatus SyncWith(Function sync) const {
    if (state_ == State::kCut) return IOStatus::OK();
    return state_ == State::kGood ? Report(sync()) : Abandoned();
  }

  IOStatus Abandoned() const {
    return Report(IOStatus::IOError("the write-ahead log was abandoned after a failed commit"));
  }

  IOStatus Count(size_t bytes, const IOStatus& appended) {
    if (appended.ok()) {
      appended_bytes_ += bytes;
    } else {
      torn_ = true;
    }
    return Report(appended);
  }

  // RocksDB treats "Busy" as a failure of this one write. After any other error it considers the
  // log's writer broken, and has no way to switch to a new log that works in every case.
  IOStatus Report(const IOStatus& status) const {
    if (status.ok()) return status;
    MutexLock lock(guard_.mutex_);
    guard_.failure_ = status;
    return IOStatus::Busy("the write-ahead log failed");
  }

  const uint64_t number_;
  WalGuard& guard_;
  std::atomic<State> state_ = State::kGood;
  // Only the committer uses these.
  uint64_t appended_bytes_ = 0;
  uint64_t acknowledged_bytes_ = 0;
  bool torn_ = false;  // An append failed and may have written part of its bytes.
};

// The MANIFEST: notes how much of it has been synced.
//
// Threads: RocksDB writes it one edit at a time.
class GuardedManifest final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  GuardedManifest(std::unique_ptr<rocksdb::FSWritableFile> file, uint64_t number, WalMark& mark)
      : FSWritableFileOwnerWrapper(std::move(file)), number_(number), mark_(mark) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    return Count(data.size(), target()->Append(data, options, debug));
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& verification,
                  IODebugContext* debug) override {
    return Count(data.size(), target()->Append(data, options, verification, debug));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Note(target()->Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Note(target()->Fsync(options, debug));
  }

 private:
  IOStatus Count(size_t bytes, IOStatus appended) {
    if (appended.ok()) bytes_ += bytes;
    return appended;
  }
  IOStatus Note(IOStatus synced) {
    if (synced.ok()) mark_.ExtendManifest(number_, bytes_);
    return synced;
  }

  const uint64_t number_;
  WalMark& mark_;
  uint64_t bytes_ = 0;
};

GuardedWal* WalGuard::Newest() const {
  MutexLock lock(mutex_);
  CHECK(!open_.empty());
  return open_.back();
}

bool WalGuard::Writable() const { return Newest()->Writable(); }

void WalGuard::Acknowledge() { Newest()->Acknowledge(); }

IOStatus WalGuard::failure() const {
  MutexLock lock(mutex_);
  return failure_;
}

IOStatus WalGuard::CutBack() { return Newest()->CutBack(); }

IOStatus WalGuard::NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                   std::unique_ptr<rocksdb::FSWritableFile>* file,
                                   IODebugContext* debug) {
  std::unique_ptr<rocksdb::FSWritableFile> opened;
  IOStatus status = target()->NewWritableFile(name, options, &opened, debug);
  if (const uint64_t number = WalNumber(name); status.ok() && number != 0) {
    *file = std::make_unique<GuardedWal>(std::move(opened), number, *this);
  } else if (const uint64_t manifest = ManifestNumber(name); status.ok() && manifest != 0) {
    *file = std::make_unique<GuardedManifest>(std::move(opened), manifest, *mark_);
  } else {
    *file = std::move(opened);
  }
  return status;
}

IOStatus WalGuard::DeleteFile(const std::string& name, const IOOptions& options,
                              IODebugContext* debug) {
  if (const uint64_t number = WalNumber(name); number != 0 && mark_) {
    // First: the mark must never list a log that was deleted on purpose.
    if (IOStatus removed = mark_->Remove(number); !removed.ok()) return removed;
  }
  return target()->DeleteFile(name, options, debug);
}

}  // namespace hearth::storage
