#include "storage/log_check.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "storage/log_records.h"
#include "storage/rocksdb_status.h"

namespace hearth::storage {
namespace {

using rocksdb::FileOptions;
using rocksdb::IOOptions;

Status DataLoss(const std::string& message) { return Status(Code::kDataLoss, message); }

Status ScanLog(rocksdb::FileSystem& files, const std::string& name, LogScanner* scanner) {
  std::unique_ptr<rocksdb::FSSequentialFile> file;
  rocksdb::Status status = files.NewSequentialFile(name, FileOptions(), &file, nullptr);
  if (!status.ok()) return FromRocksDb(status);
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
    if (Status fed = scanner->Feed(block); !fed.ok()) return fed.While(name);
  }
  return Status();
}

Status CheckManifest(rocksdb::FileSystem& files, const LogCheckOptions& options) {
  const std::string& path = options.path;
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
  // A torn end beyond what was synced is an edit that never took effect; RocksDB ignores it.
  LogScanner scanner;
  RETURN_IF_ERROR(ScanLog(files, manifest, &scanner));
  if (scanner.empty()) return DataLoss(manifest + " is empty");
  if (ManifestNumber(manifest) == options.manifest.number &&
      scanner.intact_bytes() < options.manifest.bytes) {
    return DataLoss(manifest + " is cut off after " + std::to_string(scanner.intact_bytes()) +
                    " bytes; it had at least " + std::to_string(options.manifest.bytes));
  }
  return Status();
}

Status CutOff(rocksdb::FileSystem& files, const std::string& name, uint64_t bytes) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  rocksdb::Status status = files.ReopenWritableFile(name, FileOptions(), &file, nullptr);
  if (status.ok()) status = file->Truncate(bytes, IOOptions(), nullptr);
  if (status.ok()) status = file->Fsync(IOOptions(), nullptr);
  if (status.ok()) status = file->Close(IOOptions(), nullptr);
  return FromRocksDb(status).While("cutting the torn end off " + name);
}

// What a start finds of one write-ahead log.
struct FoundWal {
  bool exists = false;
  uint64_t bytes = 0;         // The length of the file.
  uint64_t intact_bytes = 0;  // Where the last complete record before any flaw ends.
  bool is_torn = false;
  Status damage;
  uint64_t acknowledged_bytes = 0;  // At least.

  bool has_records() const { return intact_bytes > 0 || !damage.ok(); }
};
using FoundWals = std::map<uint64_t, FoundWal>;

std::string NameIn(const std::string& path, uint64_t number) {
  return path + "/" + WalName(number);
}

Result<FoundWals> FindWals(rocksdb::FileSystem& files, const std::string& path,
                           const std::vector<WalExtent>& acknowledged) {
  std::vector<std::string> children;
  const rocksdb::Status listed = files.GetChildren(path, IOOptions(), &children, nullptr);
  if (!listed.ok()) return FromRocksDb(listed);
  FoundWals wals;
  for (const std::string& child : children) {
    const uint64_t number = WalNumber(child);
    if (number == 0) continue;
    FoundWal& wal = wals[number];
    wal.exists = true;
    LogScanner scanner;
    const std::string name = path + "/" + child;
    const rocksdb::Status measured = files.GetFileSize(name, IOOptions(), &wal.bytes, nullptr);
    if (!measured.ok()) return FromRocksDb(measured);
    const Status scanned = ScanLog(files, name, &scanner);
    if (!scanned.ok() && scanned.code() != Code::kDataLoss) return scanned;
    wal.damage = scanned;
    wal.is_torn = scanner.torn();
    wal.intact_bytes = scanner.intact_bytes();
  }
  for (const WalExtent& extent : acknowledged) {
    if (extent.bytes > 0) wals[extent.number].acknowledged_bytes = extent.bytes;
  }
  return wals;
}

// OK if nothing acknowledged is missing from the log. `later_have_records`: a new log is begun only
// after everything in the earlier ones has been synced, so only the newest log with records may be
// torn.
Status CheckWal(const std::string& name, const FoundWal& wal, bool later_have_records) {
  const std::string acknowledged =
      std::to_string(wal.acknowledged_bytes) + " bytes of acknowledged commits";
  if (!wal.exists) return DataLoss(name + " is missing; it held at least " + acknowledged);
  if (!wal.damage.ok()) return wal.damage;
  if (wal.intact_bytes < wal.acknowledged_bytes) {
    return DataLoss(name + " is cut off after " + std::to_string(wal.intact_bytes) +
                    " bytes; it held at least " + acknowledged);
  }
  if (wal.is_torn && later_have_records) {
    return DataLoss(name + " ends within a record, yet later logs have data");
  }
  return Status();
}

// Moves the logs from `first` on out of the way, except for the intact beginning of `first`, so
// that RocksDB recovers the state before the first commit that was lost.
Status SetAside(rocksdb::FileSystem& files, const LogCheckOptions& options, const FoundWals& wals,
                uint64_t first) {
  const rocksdb::Status made = files.CreateDirIfMissing(options.aside, IOOptions(), nullptr);
  if (!made.ok()) return FromRocksDb(made);
  for (auto wal = wals.find(first); wal != wals.end(); ++wal) {
    if (!wal->second.exists) continue;
    const std::string name = NameIn(options.path, wal->first);
    const std::string aside = options.aside + "/" + WalName(wal->first);
    if (wal->first == first) {
      std::error_code error;
      std::filesystem::copy_file(name, aside, std::filesystem::copy_options::overwrite_existing,
                                 error);
      if (error) return Status(Code::kUnavailable, name + ": " + error.message());
      RETURN_IF_ERROR(CutOff(files, name, wal->second.intact_bytes));
    } else {
      const rocksdb::Status moved = files.RenameFile(name, aside, IOOptions(), nullptr);
      if (!moved.ok()) return FromRocksDb(moved);
    }
    Log(LogLevel::kError, "set a write-ahead log aside",
        {{"file", name},
         {"to", aside},
         {"bytes", wal->second.bytes},
         {"bytes_used", wal->first == first ? wal->second.intact_bytes : 0}});
  }
  return Status();
}

// What is left of the acknowledged logs after those from `first` on were set aside.
std::vector<WalExtent> LeftBefore(const FoundWals& wals, uint64_t first) {
  std::vector<WalExtent> left;
  for (const auto& [number, wal] : wals) {
    const uint64_t bytes = std::min(wal.acknowledged_bytes, wal.intact_bytes);
    if (number <= first && bytes > 0) left.push_back({number, bytes});
  }
  return left;
}

Result<std::vector<WalExtent>> CheckAndMendWals(rocksdb::FileSystem& files,
                                                const LogCheckOptions& options) {
  ASSIGN_OR_RETURN(const FoundWals wals, FindWals(files, options.path, options.acknowledged));
  uint64_t newest_with_records = 0;
  for (const auto& [number, wal] : wals) {
    if (wal.has_records()) newest_with_records = number;
  }
  for (const auto& [number, wal] : wals) {
    const std::string name = NameIn(options.path, number);
    const Status checked = CheckWal(name, wal, number < newest_with_records);
    if (!checked.ok()) {
      if (options.loss == LogLoss::kRefused) {
        return DataLoss(checked.message() + "; --accept-loss starts with the commits before it");
      }
      Log(LogLevel::kError, "acknowledged commits are lost, as accepted",
          {{"reason", checked.message()}});
      RETURN_IF_ERROR(SetAside(files, options, wals, number));
      return LeftBefore(wals, number);
    }
  }
  for (const auto& [number, wal] : wals) {
    if (!wal.is_torn) continue;
    const std::string name = NameIn(options.path, number);
    RETURN_IF_ERROR(CutOff(files, name, wal.intact_bytes));
    Log(LogLevel::kWarning, "dropped the torn end of a write-ahead log; it was never acknowledged",
        {{"file", name}, {"bytes", wal.bytes - wal.intact_bytes}, {"kept", wal.intact_bytes}});
  }
  return options.acknowledged;
}

}  // namespace

Result<std::vector<WalExtent>> CheckAndMendLogs(rocksdb::FileSystem& files,
                                                const LogCheckOptions& options) {
  RETURN_IF_ERROR(CheckManifest(files, options));
  return CheckAndMendWals(files, options);
}

}  // namespace hearth::storage
