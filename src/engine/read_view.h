#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/status.h"
#include "engine/database.h"
#include "engine/document_cursor.h"
#include "engine/document_reader.h"
#include "engine/lock_table.h"
#include "index/index_set.h"
#include "model/names.h"
#include "model/timestamp.h"
#include "storage/store.h"

namespace hearth::engine {

// One consistent moment of one database, for as long as a request reads.
//
// Threads: one at a time. Ownership: the engine must outlive it. Errors: those of the store.
class ReadView {
 public:
  struct Parts {
    const Database* database;
    const DocumentReader* reader;
    std::shared_ptr<const index::IndexSet> indexes;  // Shared with the registry; null as below.
    std::unique_ptr<storage::Snapshot> snapshot;     // Null: only single documents are read.
    model::Timestamp read_time;
    bool is_present;  // The snapshot itself is the state at the read time.
    std::string new_transaction;
    std::optional<LockOwner> locked_by;  // Of a read-write transaction: who has locked the scope.
    std::shared_ptr<void> use;  // Ends the transaction's use when the view, the owner, ends.
  };

  explicit ReadView(Parts parts) : parts_(std::move(parts)) {}
  ReadView(const ReadView&) = delete;
  ReadView& operator=(const ReadView&) = delete;

  const Database& database() const { return *parts_.database; }
  model::Timestamp read_time() const { return parts_.read_time; }
  const std::optional<LockOwner>& locked_by() const { return parts_.locked_by; }
  // The id of the transaction that this read has started; empty if it has not.
  const std::string& new_transaction() const { return parts_.new_transaction; }

  // The document's record; null where there is none. May wait for the disk.
  Result<Record> Get(const model::DocumentPath& path) const;
  // nullopt when the answer would have to wait for the disk.
  std::optional<Result<Record>> GetIfInMemory(const model::DocumentPath& path) const;

  // The documents whose keys are in `range`. Requires a view opened for scans.
  std::unique_ptr<DocumentCursor> Scan(storage::KeyRange range) const;
  // Descending. Null unless the snapshot is the state at the read time.
  std::unique_ptr<DocumentCursor> ScanBackward(storage::KeyRange range) const;

  // The rest of what queries read. Require a view opened for scans.
  const index::IndexSet& indexes() const { return *parts_.indexes; }
  const storage::Snapshot& snapshot() const { return *parts_.snapshot; }
  // The keys of the documents that have changed between the read time and the snapshot; nullopt
  // when there are more than `max`.
  Result<std::optional<std::set<std::string, std::less<>>>> ChangedDocuments(size_t max) const;

 private:
  const Parts parts_;
};

}  // namespace hearth::engine
