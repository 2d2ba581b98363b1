#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "documents/keys.h"
#include "model/names.h"
#include "model/timestamp.h"

namespace hearth::documents {

// One database in the store. It exists in memory while it is used and on disk from its first commit
// until it is deleted. A request, stream or transaction keeps it alive with a handle.
//
// Threads: safe for concurrent use. The flags are set only on the committer's thread.
struct Database : std::enable_shared_from_this<Database> {
  Database(model::DatabaseName database_name, model::DatabaseNumber database_number, bool on_disk)
      : name(std::move(database_name)), number(database_number), is_on_disk(on_disk) {}

  const model::DatabaseName name;
  const model::DatabaseNumber number;
  std::atomic<bool> is_on_disk;
  // Final: a database that is created later under this name is another one. Its documents are
  // removed after this is set, so a read that finds it unset afterwards saw all of them.
  std::atomic<bool> is_deleted = false;
  // The time of the first commit; 0 if unknown, because an earlier format did not store it.
  std::atomic<int64_t> created_micros = 0;
  // The version of the index configuration that its indexes follow.
  std::atomic<uint64_t> index_policy_version = 0;
};

// Shared by the catalogue, if the database is on disk, and by everything that uses the database.
using DatabaseHandle = std::shared_ptr<Database>;
using ConstDatabaseHandle = std::shared_ptr<const Database>;

// The error of reads and commits that a deletion has overtaken. Retried, they find a database that
// is empty.
inline Status DatabaseDeleted(const Database& database) {
  return Status(Code::kAborted, "the database '" + database.name.text() + "' was deleted");
}

// The value under kDatabaseKeyPrefix and the name.
//
//   record := number (4), [time of creation in microseconds (8)]
struct DatabaseRecord {
  model::DatabaseNumber number;
  model::Timestamp created;
};
std::string EncodeDatabaseRecord(const DatabaseRecord& record);
// DataLoss if it cannot be decoded.
Result<DatabaseRecord> DecodeDatabaseRecord(std::string_view bytes);

}  // namespace hearth::documents
