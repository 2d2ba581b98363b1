#include "storage/wal_mark.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "storage/log_records.h"
#include "storage/rocksdb_status.h"

namespace hearth::storage {
namespace {

using rocksdb::FileOptions;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// Each copy has a page of its own, so that a torn write damages at most one of them.
constexpr size_t kCopyBytes = 4096;
constexpr size_t kCopies = 2;
// CRC-32C of what follows (4), number of logs (4), generation (8); then number (8) and bytes (8) of
// the MANIFEST and of each log. All little-endian.
constexpr size_t kHeaderBytes = 32;
constexpr size_t kManifestOffset = 16;
constexpr size_t kExtentBytes = 16;
constexpr size_t kCrcBytes = 4;
static_assert(kHeaderBytes + WalMark::kLogsMax * kExtentBytes <= kCopyBytes);
static_assert(std::endian::native == std::endian::little);

template <typename Number>
void Append(Number number, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

template <typename Number>
Number NumberAt(std::string_view bytes, size_t offset) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

struct Copy {
  uint64_t generation = 0;
  WalExtent manifest;
  std::vector<WalExtent> logs;
};

void Append(const WalExtent& extent, std::string* bytes) {
  Append(extent.number, bytes);
  Append(extent.bytes, bytes);
}

WalExtent ExtentAt(std::string_view bytes, size_t offset) {
  return {NumberAt<uint64_t>(bytes, offset), NumberAt<uint64_t>(bytes, offset + sizeof(uint64_t))};
}

std::string Encode(const Copy& copy) {
  std::string bytes(kCrcBytes, '\0');
  Append(static_cast<uint32_t>(copy.logs.size()), &bytes);
  Append(copy.generation, &bytes);
  Append(copy.manifest, &bytes);
  for (const WalExtent& log : copy.logs) Append(log, &bytes);
  const uint32_t crc = Crc32c(0, std::string_view(bytes).substr(kCrcBytes));
  std::memcpy(bytes.data(), &crc, sizeof(crc));
  return bytes;
}

// nullopt if the bytes are not intact.
std::optional<Copy> Decode(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const size_t count = NumberAt<uint32_t>(bytes, kCrcBytes);
  if (count > WalMark::kLogsMax) return std::nullopt;
  const size_t end = kHeaderBytes + count * kExtentBytes;
  if (bytes.size() < end) return std::nullopt;
  const uint32_t crc = Crc32c(0, bytes.substr(kCrcBytes, end - kCrcBytes));
  if (crc != NumberAt<uint32_t>(bytes, 0)) return std::nullopt;
  Copy copy{NumberAt<uint64_t>(bytes, 2 * kCrcBytes), ExtentAt(bytes, kManifestOffset), {}};
  for (size_t offset = kHeaderBytes; offset < end; offset += kExtentBytes) {
    copy.logs.push_back(ExtentAt(bytes, offset));
  }
  return copy;
}

bool IsUnwritten(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

// Full length from the beginning: later writes need no space on the disk.
rocksdb::Status Create(rocksdb::FileSystem& files, const std::string& name) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  IOStatus status = files.NewWritableFile(name, FileOptions(), &file, nullptr);
  const std::string zeros(kCopies * kCopyBytes, '\0');
  if (status.ok()) status = file->Append(zeros, IOOptions(), nullptr);
  if (status.ok()) status = file->Fsync(IOOptions(), nullptr);
  if (status.ok()) status = file->Close(IOOptions(), nullptr);
  return status;
}

}  // namespace

Result<std::unique_ptr<WalMark>> WalMark::Open(rocksdb::FileSystem& files,
                                               const std::string& name) {
  const IOStatus exists = files.FileExists(name, IOOptions(), nullptr);
  if (!exists.ok() && !exists.IsNotFound()) return FromRocksDb(exists).While(name);
  if (!exists.ok()) RETURN_IF_ERROR(FromRocksDb(Create(files, name)).While(name));
  std::unique_ptr<rocksdb::FSRandomRWFile> file;
  const IOStatus opened = files.NewRandomRWFile(name, FileOptions(), &file, nullptr);
  if (!opened.ok()) return FromRocksDb(opened).While(name);
  std::unique_ptr<WalMark> mark(new WalMark(std::move(file)));
  RETURN_IF_ERROR(mark->Load().While(name));
  return mark;
}

Status WalMark::Load() {
  MutexLock lock(mutex_);
  size_t damaged = 0;
  for (size_t i = 0; i < kCopies; ++i) {
    std::string buffer(kCopyBytes, '\0');
    rocksdb::Slice got;
    const IOStatus read =
        file_->Read(i * kCopyBytes, kCopyBytes, IOOptions(), &got, buffer.data(), nullptr);
    if (!read.ok()) return FromRocksDb(read);
    const std::string_view bytes(got.data(), got.size());
    if (IsUnwritten(bytes)) continue;
    std::optional<Copy> copy = Decode(bytes);
    if (!copy) {
      ++damaged;
    } else if (copy->generation >= generation_) {
      generation_ = copy->generation;
      manifest_ = copy->manifest;
      logs_ = std::move(copy->logs);
      found_ = Found::kLogs;
    }
  }
  if (found_ == Found::kNothing && damaged > 0) found_ = Found::kDamage;
  return Status();
}

std::vector<WalExtent> WalMark::logs() const {
  MutexLock lock(mutex_);
  return logs_;
}

WalExtent WalMark::manifest() const {
  MutexLock lock(mutex_);
  return manifest_;
}

IOStatus WalMark::WriteOne() {
  ++generation_;
  return file_->Write(generation_ % kCopies * kCopyBytes, Encode({generation_, manifest_, logs_}),
                      IOOptions(), nullptr);
}

IOStatus WalMark::WriteBoth() {
  for (size_t i = 0; i < kCopies; ++i) {
    if (IOStatus status = WriteOne(); !status.ok()) return status;
  }
  return IOStatus::OK();
}

void WalMark::Extend(uint64_t number, uint64_t bytes) {
  MutexLock lock(mutex_);
  if (logs_.empty() || logs_.back().number < number) {
    if (logs_.size() == kLogsMax) logs_.erase(logs_.begin());
    logs_.push_back({number, 0});
  }
  const auto found = std::find_if(logs_.rbegin(), logs_.rend(),
                                  [number](const WalExtent& log) { return log.number == number; });
  if (found == logs_.rend() || found->bytes >= bytes) return;
  found->bytes = bytes;
  WriteOne().PermitUncheckedError();
}

void WalMark::ExtendManifest(uint64_t number, uint64_t bytes) {
  MutexLock lock(mutex_);
  manifest_ = {number, bytes};
  WriteOne().PermitUncheckedError();
}

IOStatus WalMark::Sync() {
  IOStatus status = file_->Fsync(IOOptions(), nullptr);
  if (!status.ok()) return status;
  MutexLock lock(mutex_);
  must_sync_ = false;
  return status;
}

IOStatus WalMark::Reset(std::vector<WalExtent> logs) {
  {
    MutexLock lock(mutex_);
    logs_ = std::move(logs);
    must_sync_ = true;
    if (IOStatus status = WriteBoth(); !status.ok()) return status;
  }
  return Sync();
}

IOStatus WalMark::Remove(uint64_t number) {
  {
    MutexLock lock(mutex_);
    const size_t removed =
        std::erase_if(logs_, [number](const WalExtent& log) { return log.number == number; });
    if (removed == 0 && !must_sync_) return IOStatus::OK();
    must_sync_ = true;
    if (IOStatus status = WriteBoth(); !status.ok()) return status;
  }
  return Sync();
}

}  // namespace hearth::storage
