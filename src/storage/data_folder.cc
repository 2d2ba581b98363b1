#include "storage/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/status_macros.h"
#include "storage/rocksdb_status.h"
#include "storage/rocksdb_store.h"

namespace hearth::storage {
namespace {

using rocksdb::FileOptions;
using rocksdb::IOOptions;

// The format file, and its name while the database is still being created.
constexpr char kFormatFile[] = "/HEARTH";
constexpr char kUnfinishedFile[] = "/HEARTH.new";
constexpr char kLockFile[] = "/LOCK";
constexpr char kDatabaseFolder[] = "/db";
constexpr char kMarkFile[] = "/MARK";
constexpr char kAsideFolder[] = "/lost";
constexpr std::string_view kFormatPrefix = "hearth format ";
constexpr size_t kSmallFileBytesMax = 64;  // The format and lock files are shorter.

Status FromErrno(int error, const std::string& path) {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return Status(Code::kPermissionDenied,
                    "cannot write to " + path + ": " + std::strerror(error));
    case ENOSPC:
    case EDQUOT:
      return Status(Code::kResourceExhausted, "the disk that holds " + path + " is full");
    default:
      return Status(Code::kUnavailable, path + ": " + std::strerror(error));
  }
}

// If the folder's entry in its parent is lost in a power failure, everything in the folder is lost.
Status SyncParent(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::absolute(path).parent_path();
  const int directory = open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return FromErrno(errno, parent);
  const int error = fsync(directory) == 0 ? 0 : errno;
  close(directory);
  return error == 0 ? Status() : FromErrno(error, parent);
}

Status MakeFolder(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return Status();
    return Status(Code::kFailedPrecondition, path + " is not a folder");
  }
  if (errno == ENOTDIR) {
    return Status(Code::kFailedPrecondition, path + " is inside something that is not a folder");
  }
  if (errno != ENOENT) return FromErrno(errno, path);
  if (mkdir(path.c_str(), 0700) == 0) return SyncParent(path);
  if (errno == ENOENT) {
    return Status(Code::kNotFound, "cannot create " + path + ": its parent folder does not exist");
  }
  return FromErrno(errno, path);
}

// The beginning of a small file; nullopt if it does not exist.
Result<std::optional<std::string>> ReadSmallFile(rocksdb::FileSystem& files,
                                                 const std::string& name) {
  std::unique_ptr<rocksdb::FSSequentialFile> file;
  rocksdb::Status status = files.NewSequentialFile(name, FileOptions(), &file, nullptr);
  if (status.IsPathNotFound() || status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) return FromRocksDb(status);
  std::string buffer(kSmallFileBytesMax, '\0');
  rocksdb::Slice got;
  status = file->Read(buffer.size(), IOOptions(), &got, buffer.data(), nullptr);
  if (!status.ok()) return FromRocksDb(status);
  return std::optional<std::string>(got.ToString());
}

std::string FormatLine(int format = kFormat) {
  return std::string(kFormatPrefix) + std::to_string(format) + "\n";
}

bool IsEarlierFormat(std::string_view line) {
  for (int format = kOldestFormat; format < kFormat; ++format) {
    if (line == FormatLine(format)) return true;
  }
  return false;
}

Status CheckFormat(const std::string& path, std::string_view line) {
  if (line == FormatLine() || IsEarlierFormat(line)) return Status();
  const bool has_number = line.starts_with(kFormatPrefix) && line.ends_with('\n');
  if (!has_number) {
    return Status(Code::kDataLoss, path + kFormatFile + " is damaged: it has no format number");
  }
  line.remove_prefix(kFormatPrefix.size());
  line.remove_suffix(1);
  return Status(Code::kFailedPrecondition, "data in " + path + " has format " + std::string(line) +
                                               "; this hearth reads formats " +
                                               std::to_string(kOldestFormat) + " to " +
                                               std::to_string(kFormat));
}

// Fails if `path` holds anything that Hearth did not put there, or a database without a format
// file.
Status RefuseForeign(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path + kDatabaseFolder, error)) {
    return Status(Code::kFailedPrecondition,
                  "data in " + path + " has no format number (the file HEARTH is missing)");
  }
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = "/" + entry.path().filename().string();
    if (name == kLockFile || name == kUnfinishedFile || name == kMarkFile) continue;
    if (name == "/lost+found") continue;
    return Status(Code::kFailedPrecondition, path + " contains something other than Hearth data (" +
                                                 entry.path().filename().string() + ")");
  }
  return error ? FromErrno(error.value(), path) : Status();
}

bool Exists(const std::string& name) {
  struct stat info = {};
  return stat(name.c_str(), &info) == 0;
}

}  // namespace

DataFolder::DataFolder(std::string path, std::shared_ptr<rocksdb::FileSystem> files)
    : path_(std::move(path)), files_(std::move(files)) {}

std::string DataFolder::db_path() const { return path_ + kDatabaseFolder; }

std::string DataFolder::mark_path() const { return path_ + kMarkFile; }
std::string DataFolder::aside_path() const { return path_ + kAsideFolder; }

DataFolder::~DataFolder() {
  if (lock_ >= 0) close(lock_);
}

Result<std::unique_ptr<DataFolder>> DataFolder::Open(const std::string& path,
                                                     std::shared_ptr<rocksdb::FileSystem> files) {
  RETURN_IF_ERROR(MakeFolder(path));
  // Before the lock: its file must not be written into a folder that is not ours.
  if (!Exists(path + kFormatFile) && !Exists(path + kUnfinishedFile)) {
    RETURN_IF_ERROR(RefuseForeign(path));
  }
  std::unique_ptr<DataFolder> folder(new DataFolder(path, std::move(files)));
  RETURN_IF_ERROR(folder->Lock());
  RETURN_IF_ERROR(folder->Inspect());
  if (folder->contents() == Contents::kNone) RETURN_IF_ERROR(folder->Begin());
  return folder;
}

Status DataFolder::Lock() {
  const std::string name = path_ + kLockFile;
  lock_ = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) return FromErrno(errno, path_);
  // The lock ends with the last descriptor of the file, so a killed process leaves no lock behind.
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FromErrno(errno, path_);
    char owner[kSmallFileBytesMax] = {};
    const ssize_t got = pread(lock_, owner, sizeof(owner) - 1, 0);
    std::string message = path_ + " is in use by another hearth process";
    if (got > 0) message += " (pid " + std::string(owner, static_cast<size_t>(got)) + ")";
    return Status(Code::kFailedPrecondition, message);
  }
  const std::string pid = std::to_string(getpid());
  const bool noted = ftruncate(lock_, 0) == 0 &&
                     pwrite(lock_, pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
  return noted ? Status() : FromErrno(errno, path_);
}

Status DataFolder::Inspect() {
  ASSIGN_OR_RETURN(const std::optional<std::string> format,
                   ReadSmallFile(*files_, path_ + kFormatFile));
  if (format) {
    contents_ = Contents::kDatabase;
    has_earlier_format_ = IsEarlierFormat(*format);
    return CheckFormat(path_, *format);
  }
  ASSIGN_OR_RETURN(const std::optional<std::string> unfinished,
                   ReadSmallFile(*files_, path_ + kUnfinishedFile));
  if (unfinished && (unfinished == FormatLine() || IsEarlierFormat(*unfinished))) {
    // The process that was creating the database ended before the database was ever used.
    std::error_code error;
    std::filesystem::remove_all(db_path(), error);
    if (error) return FromErrno(error.value(), path_);
  }
  return RefuseForeign(path_);
}

Status DataFolder::Begin() {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  rocksdb::Status status =
      files_->NewWritableFile(path_ + kUnfinishedFile, FileOptions(), &file, nullptr);
  if (status.ok()) status = file->Append(FormatLine(), IOOptions(), nullptr);
  if (status.ok()) status = file->Fsync(IOOptions(), nullptr);
  if (status.ok()) status = file->Close(IOOptions(), nullptr);
  if (!status.ok()) return FromRocksDb(status).While("preparing " + path_);
  return SyncFolder();
}

Status DataFolder::Finish() {
  const rocksdb::Status renamed =
      files_->RenameFile(path_ + kUnfinishedFile, path_ + kFormatFile, IOOptions(), nullptr);
  if (!renamed.ok()) return FromRocksDb(renamed).While("preparing " + path_);
  contents_ = Contents::kDatabase;
  return SyncFolder();
}

Status DataFolder::Upgrade() {
  if (!has_earlier_format_) return Status();
  // The same two steps as for a new database: until the rename, the old number counts.
  RETURN_IF_ERROR(Begin());
  RETURN_IF_ERROR(Finish());
  has_earlier_format_ = false;
  return Status();
}

Status DataFolder::SyncFolder() {
  std::unique_ptr<rocksdb::FSDirectory> directory;
  rocksdb::Status status = files_->NewDirectory(path_, IOOptions(), &directory, nullptr);
  if (status.ok()) status = directory->Fsync(IOOptions(), nullptr);
  return FromRocksDb(status).While("preparing " + path_);
}

}  // namespace hearth::storage
