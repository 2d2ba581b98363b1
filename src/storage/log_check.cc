#include "storage/log_check.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "storage/log_records.h"
#include "storage/rocksdb_status.h"

namespace hearth::storage {
namespace {

using rocksdb::FileOptions;
using rocksdb::IOOptions;

Status DataLoss(const std::string& message) { return Status(Code::kDataLoss, message); }

Result<LogScanner> ScanLog(rocksdb::FileSystem& files, const std::string& name) {
  std::unique_ptr<rocksdb::FSSequentialFile> file;
  rocksdb::Status status = files.NewSequentialFile(name, FileOptions(), &file, nullptr);
  if (!status.ok()) return FromRocksDb(status);
  LogScanner scanner;
  std::string buffer(kLogBlockBytes, '\0');
  std::string block;
  // A read may return less before the end of the file, but a block must be complete.
  for (bool at_end = false; !at_end;) {
    block.clear();
    while (block.size() < kLogBlockBytes) {
      rocksdb::Slice got;
      status = file->Read(kLogBlockBytes - block.size(), IOOptions(), &got, buffer.data(), nullptr);
      if (!status.ok()) return FromRocksDb(status);
      block.append(got.data(), got.size());
      at_end = got.empty();
      if (at_end) break;
    }
    if (Status fed = scanner.Feed(block); !fed.ok()) return fed.While(name);
  }
  return scanner;
}

// The number in a write-ahead log's file name, such as "000012.log"; 0 for other files.
uint64_t WalNumber(std::string_view name) {
  constexpr std::string_view kSuffix = ".log";
  if (!name.ends_with(kSuffix)) return 0;
  name.remove_suffix(kSuffix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : 0;
}

Status CheckManifest(rocksdb::FileSystem& files, const std::string& path) {
  const std::string current_name = path + "/CURRENT";
  std::string current;
  std::unique_ptr<rocksdb::FSSequentialFile> file;
  rocksdb::Status status = files.NewSequentialFile(current_name, FileOptions(), &file, nullptr);
  if (status.IsPathNotFound() || status.IsNotFound()) return DataLoss(current_name + " is missing");
  if (!status.ok()) return FromRocksDb(status);
  constexpr size_t kCurrentBytesMax = 64;  // "MANIFEST-" and a number of at most 20 digits.
  std::string buffer(kCurrentBytesMax, '\0');
  rocksdb::Slice got;
  status = file->Read(buffer.size(), IOOptions(), &got, buffer.data(), nullptr);
  if (!status.ok()) return FromRocksDb(status);
  current = got.ToString();

  const bool names_manifest = current.starts_with("MANIFEST-") && current.ends_with('\n') &&
                              current.find('/') == std::string::npos;
  if (!names_manifest) return DataLoss(current_name + " does not name a MANIFEST");
  const std::string manifest = path + "/" + current.substr(0, current.size() - 1);
  if (!files.FileExists(manifest, IOOptions(), nullptr).ok()) {
    return DataLoss(current_name + " names " + manifest + ", which is missing");
  }
  // A torn end is an edit that never took effect; RocksDB ignores it.
  const Result<LogScanner> scanned = ScanLog(files, manifest);
  if (!scanned.ok()) return scanned.status();
  return scanned->empty() ? DataLoss(manifest + " is empty") : Status();
}

Status CutOff(rocksdb::FileSystem& files, const std::string& name, uint64_t bytes) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  rocksdb::Status status = files.ReopenWritableFile(name, FileOptions(), &file, nullptr);
  if (status.ok()) status = file->Truncate(bytes, IOOptions(), nullptr);
  if (status.ok()) status = file->Fsync(IOOptions(), nullptr);
  if (status.ok()) status = file->Close(IOOptions(), nullptr);
  return FromRocksDb(status).While("cutting the torn end off " + name);
}

Status CheckAndMendWals(rocksdb::FileSystem& files, const std::string& path) {
  std::vector<std::string> children;
  const rocksdb::Status listed = files.GetChildren(path, IOOptions(), &children, nullptr);
  if (!listed.ok()) return FromRocksDb(listed);
  std::vector<std::pair<uint64_t, std::string>> wals;
  for (const std::string& child : children) {
    if (const uint64_t number = WalNumber(child); number != 0) wals.emplace_back(number, child);
  }
  std::sort(wals.rbegin(), wals.rend());

  // From the newest to the oldest. A new log is begun only after everything in the earlier logs has
  // been synced, so only the newest log that is not empty may be torn.
  bool may_be_torn = true;
  for (const auto& [number, child] : wals) {
    const std::string name = path + "/" + child;
    const Result<LogScanner> scanned = ScanLog(files, name);
    if (!scanned.ok()) return scanned.status();
    if (scanned->torn()) {
      if (!may_be_torn) return DataLoss(name + " ends within a record, yet later logs have data");
      RETURN_IF_ERROR(CutOff(files, name, scanned->intact_bytes()));
    }
    if (!scanned->empty()) may_be_torn = false;
  }
  return Status();
}

}  // namespace

Status CheckAndMendLogs(rocksdb::FileSystem& files, const std::string& path) {
  RETURN_IF_ERROR(CheckManifest(files, path));
  return CheckAndMendWals(files, path);
}

}  // namespace hearth::storage
