// For tests: a file system that fails on request.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "rocksdb/file_system.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::storage {

// Which calls fail, and how.
struct Fault {
  enum class Operation { kAppend, kSync, kTruncate, kOpenForWriting, kSyncFolder, kRename, kAny };
  enum class Kind { kIoError, kNoSpace };
  static constexpr int kForever = 1 << 30;

  Operation operation = Operation::kAny;
  Kind kind = Kind::kIoError;
  std::string name_part = "";  // Only files whose name contains this.
  int skipped = 0;             // Number of matching calls that succeed first.
  int failing = 1;             // Number of calls that fail then; all later ones succeed.
};

// Passes everything on to the machine's file system, except for the calls selected by its fault. A
// failed append writes half of its bytes, and a failed sync leaves the data in the file, which is
// the worst case for the caller. Remembers how much of each file has been synced.
//
// Threads: safe for concurrent use.
class FaultyFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  FaultyFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

  void Inject(Fault fault) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    fault_ = std::move(fault);
  }
  void Heal() { Inject({.failing = 0}); }

  // Copies the folder as a power failure would leave it: of each file, only the synced part.
  void CopyAfterPowerLoss(const std::string& from, const std::string& to) EXCLUDES_LOCK(mutex_) {
    CopyAtOneMoment(from, to);
    MutexLock lock(mutex_);
    for (const auto& [name, bytes] : synced_bytes_) {
      if (!name.starts_with(from + "/")) continue;
      const std::string copied = to + name.substr(from.size());
      if (std::filesystem::exists(copied)) std::filesystem::resize_file(copied, bytes);
    }
  }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewRandomRWFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSRandomRWFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = Check(Fault::Operation::kRename, to);
    if (status.ok()) status = target()->RenameFile(from, to, options, debug);
    if (status.ok()) NoteRename(from, to);
    return status;
  }
  // The free space that the disk claims to have; 0: its own.
  void SetFreeSpace(uint64_t bytes) { free_bytes_ = bytes; }
  rocksdb::IOStatus GetFreeSpace(const std::string& path, const rocksdb::IOOptions& options,
                                 uint64_t* bytes, rocksdb::IODebugContext* debug) override {
    if (free_bytes_ == 0) return target()->GetFreeSpace(path, options, bytes, debug);
    *bytes = free_bytes_;
    return rocksdb::IOStatus::OK();
  }
  const char* Name() const override { return "hearth.faulty"; }

  // The status that a call of `operation` on the file `name` must return before it does anything.
  rocksdb::IOStatus Check(Fault::Operation operation, const std::string& name)
      EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    const bool matches =
        (fault_.operation == Fault::Operation::kAny || fault_.operation == operation) &&
        name.find(fault_.name_part) != std::string::npos;
    if (!matches || fault_.failing == 0) return rocksdb::IOStatus::OK();
    if (fault_.skipped > 0) {
      --fault_.skipped;
      return rocksdb::IOStatus::OK();
    }
    if (fault_.failing != Fault::kForever) --fault_.failing;
    return fault_.kind == Fault::Kind::kNoSpace ? rocksdb::IOStatus::NoSpace("injected", name)
                                                : rocksdb::IOStatus::IOError("injected", name);
  }

  void NoteSynced(const std::string& name, uint64_t bytes) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    synced_bytes_[name] = bytes;
  }

 private:
  void NoteRename(const std::string& from, const std::string& to) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    if (auto node = synced_bytes_.extract(from); !node.empty()) {
      synced_bytes_[to] = node.mapped();
    }
  }

  std::atomic<uint64_t> free_bytes_ = 0;
  Mutex mutex_;  // Leaf lock.
  Fault fault_ GUARDED_BY(mutex_) = {.failing = 0};
  std::map<std::string, uint64_t> synced_bytes_ GUARDED_BY(mutex_);
};

class FaultyFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultyFile(std::unique_ptr<rocksdb::FSWritableFile> file, FaultyFileSystem& files,
             std::string name)
      : FSWritableFileOwnerWrapper(std::move(file)), files_(files), name_(std::move(name)) {}

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = files_.Check(Fault::Operation::kAppend, name_);
    const rocksdb::Slice written(data.data(), status.ok() ? data.size() : data.size() / 2);
    const rocksdb::IOStatus appended = target()->Append(written, options, debug);
    if (appended.ok()) bytes_ += written.size();
    return status.ok() ? appended : status;
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo& /*verification*/,
                           rocksdb::IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  rocksdb::IOStatus Truncate(uint64_t size, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = files_.Check(Fault::Operation::kTruncate, name_);
    if (status.ok()) status = target()->Truncate(size, options, debug);
    if (status.ok()) bytes_ = size;
    return status;
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* debug) override {
    return Synced([&] { return target()->Sync(options, debug); });
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    return Synced([&] { return target()->Fsync(options, debug); });
  }

 private:
  template <typename Function>
  rocksdb::IOStatus Synced(Function sync) {
    rocksdb::IOStatus status = files_.Check(Fault::Operation::kSync, name_);
    if (status.ok()) status = sync();
    if (status.ok()) files_.NoteSynced(name_, bytes_);
    return status;
  }

  FaultyFileSystem& files_;
  const std::string name_;
  std::atomic<uint64_t> bytes_ = 0;  // Background threads sync while the committer appends.
};

// A file that is overwritten in place. Unlike an append, a failed write changes nothing.
class FaultyRandomFile final : public rocksdb::FSRandomRWFileOwnerWrapper {
 public:
  FaultyRandomFile(std::unique_ptr<rocksdb::FSRandomRWFile> file, FaultyFileSystem& files,
                   std::string name)
      : FSRandomRWFileOwnerWrapper(std::move(file)), files_(files), name_(std::move(name)) {}

  rocksdb::IOStatus Write(uint64_t offset, const rocksdb::Slice& data,
                          const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus status = files_.Check(Fault::Operation::kAppend, name_);
    return status.ok() ? FSRandomRWFileOwnerWrapper::Write(offset, data, options, debug) : status;
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus status = files_.Check(Fault::Operation::kSync, name_);
    return status.ok() ? FSRandomRWFileOwnerWrapper::Fsync(options, debug) : status;
  }

 private:
  FaultyFileSystem& files_;
  const std::string name_;
};

class FaultyFolder final : public rocksdb::FSDirectoryWrapper {
 public:
  FaultyFolder(std::unique_ptr<rocksdb::FSDirectory> folder, FaultyFileSystem& files,
               std::string name)
      : FSDirectoryWrapper(std::move(folder)), files_(files), name_(std::move(name)) {}

  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus status = files_.Check(Fault::Operation::kSyncFolder, name_);
    return status.ok() ? FSDirectoryWrapper::Fsync(options, debug) : status;
  }
  rocksdb::IOStatus FsyncWithDirOptions(const rocksdb::IOOptions& options,
                                        rocksdb::IODebugContext* debug,
                                        const rocksdb::DirFsyncOptions& how) override {
    const rocksdb::IOStatus status = files_.Check(Fault::Operation::kSyncFolder, name_);
    return status.ok() ? FSDirectoryWrapper::FsyncWithDirOptions(options, debug, how) : status;
  }

 private:
  FaultyFileSystem& files_;
  const std::string name_;
};

inline rocksdb::IOStatus FaultyFileSystem::NewWritableFile(
    const std::string& name, const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSWritableFile>* file, rocksdb::IODebugContext* debug) {
  rocksdb::IOStatus status = Check(Fault::Operation::kOpenForWriting, name);
  std::unique_ptr<rocksdb::FSWritableFile> opened;
  if (status.ok()) status = target()->NewWritableFile(name, options, &opened, debug);
  if (!status.ok()) return status;
  NoteSynced(name, 0);
  *file = std::make_unique<FaultyFile>(std::move(opened), *this, name);
  return status;
}

inline rocksdb::IOStatus FaultyFileSystem::NewRandomRWFile(
    const std::string& name, const rocksdb::FileOptions& options,
    std::unique_ptr<rocksdb::FSRandomRWFile>* file, rocksdb::IODebugContext* debug) {
  rocksdb::IOStatus status = Check(Fault::Operation::kOpenForWriting, name);
  std::unique_ptr<rocksdb::FSRandomRWFile> opened;
  if (status.ok()) status = target()->NewRandomRWFile(name, options, &opened, debug);
  if (status.ok()) *file = std::make_unique<FaultyRandomFile>(std::move(opened), *this, name);
  return status;
}

inline rocksdb::IOStatus FaultyFileSystem::NewDirectory(
    const std::string& name, const rocksdb::IOOptions& options,
    std::unique_ptr<rocksdb::FSDirectory>* directory, rocksdb::IODebugContext* debug) {
  std::unique_ptr<rocksdb::FSDirectory> opened;
  const rocksdb::IOStatus status = target()->NewDirectory(name, options, &opened, debug);
  if (status.ok()) *directory = std::make_unique<FaultyFolder>(std::move(opened), *this, name);
  return status;
}

}  // namespace hearth::storage
