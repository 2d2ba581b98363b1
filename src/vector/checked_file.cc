#include "vector/checked_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace hearth::vector {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

Status IoError(const std::string& doing) {
  return Status(Code::kUnavailable, doing + ": " + std::strerror(errno));
}

std::string AsidePath(const std::string& path) { return path + ".new"; }

uint32_t Extend(uint32_t checksum, const void* bytes, size_t size) {
  return static_cast<uint32_t>(crc32_z(checksum, static_cast<const Bytef*>(bytes), size));
}

// Makes a rename in the folder of `path` durable.
Status SyncFolder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return IoError("opening the folder of " + path);
  const bool synced = fsync(descriptor) == 0;
  const Status status = synced ? Status() : IoError("syncing the folder of " + path);
  close(descriptor);
  return status;
}

}  // namespace

Result<CheckedWriter> CheckedWriter::Create(const std::string& path) {
  FileHandle file(std::fopen(AsidePath(path).c_str(), "wbe"));
  if (!file) return IoError("creating " + AsidePath(path));
  // If there is no memory for this buffer, stdio's smaller one works too.
  std::setvbuf(file.get(), nullptr, _IOFBF, kBufferBytes);
  return CheckedWriter(path, std::move(file));
}

CheckedWriter::~CheckedWriter() {
  if (file_) unlink(AsidePath(path_).c_str());
}

void CheckedWriter::Append(const void* bytes, size_t size) {
  if (size == 0) return;  // With a null pointer zlib would restart the checksum.
  checksum_ = Extend(checksum_, bytes, size);
  std::fwrite(bytes, 1, size, file_.get());
}

Status CheckedWriter::Commit() {
  const uint32_t checksum = checksum_;
  Append(&checksum, sizeof(checksum));
  if (std::fflush(file_.get()) != 0 || std::ferror(file_.get()) != 0 ||
      fsync(fileno(file_.get())) != 0 ||
      std::rename(AsidePath(path_).c_str(), path_.c_str()) != 0) {
    return IoError("writing " + path_);
  }
  file_.reset();
  return SyncFolder(path_);
}

Result<CheckedReader> CheckedReader::Open(const std::string& path) {
  FileHandle file(std::fopen(path.c_str(), "rbe"));
  if (!file && errno == ENOENT) return Status(Code::kNotFound, "no file " + path);
  struct stat attributes = {};
  if (!file || fstat(fileno(file.get()), &attributes) != 0) return IoError("opening " + path);
  const auto size = static_cast<uint64_t>(attributes.st_size);
  if (size < sizeof(checksum_)) return Status(Code::kDataLoss, path + " is cut off");
  std::setvbuf(file.get(), nullptr, _IOFBF, kBufferBytes);
  return CheckedReader(std::move(file), size - sizeof(checksum_));
}

bool CheckedReader::Read(void* bytes, size_t size) {
  if (size == 0) return true;
  if (size > remaining_ || std::fread(bytes, 1, size, file_.get()) != size) return false;
  checksum_ = Extend(checksum_, bytes, size);
  remaining_ -= size;
  return true;
}

Status CheckedReader::Verify() {
  uint32_t stored;
  const bool read = std::fread(&stored, 1, sizeof(stored), file_.get()) == sizeof(stored);
  if (std::ferror(file_.get()) != 0) return Status(Code::kUnavailable, "a read failed");
  if (remaining_ != 0 || !read || stored != checksum_) {
    return Status(Code::kDataLoss, "the checksum does not match");
  }
  return Status();
}

}  // namespace hearth::vector
