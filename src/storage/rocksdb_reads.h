// Private to this folder: gets, scans and snapshots on an open RocksDB.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/db.h"
#include "storage/rocksdb_status.h"
#include "storage/store.h"

namespace hearth::storage {

// An open database and its column families, borrowed from the store that owns them.
struct OpenDatabase {
  rocksdb::ColumnFamilyHandle* family(Space space) const {
    return families[static_cast<size_t>(space)];
  }

  rocksdb::DB* db = nullptr;
  std::array<rocksdb::ColumnFamilyHandle*, kSpaces> families = {};
  const ErrorReports* errors = nullptr;
};

// How many keys that were removed, or written after its snapshot, a cursor passes over before it
// pauses: about a millisecond's work if they must be read from the disk. RocksDB itself skips fewer
// versions of a single key one by one, so that every attempt gets further.
inline constexpr uint64_t kSkippedKeysMax = 1'000;

// The approximate size of the range in files and in memory.
uint64_t ApproximateBytesOf(const OpenDatabase& database, Space space, const KeyRange& range);

// The value of `key` as read with `options`; nullopt if there is none. Verifies the checksum of
// every block that is read.
Result<std::optional<std::string>> GetFrom(const OpenDatabase& database,
                                           const rocksdb::ReadOptions& options, Space space,
                                           std::string_view key);

// Like GetFrom on the newest state, but nullopt if the answer is not in memory.
std::optional<Result<std::optional<std::string>>> GetFromMemory(const OpenDatabase& database,
                                                                Space space, std::string_view key);

std::unique_ptr<Snapshot> NewRocksDbSnapshot(const OpenDatabase& database);

}  // namespace hearth::storage
