#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/status.h"
#include "model/names.h"
#include "model/record.h"
#include "model/timestamp.h"

namespace hearth::storage {
struct KeyRange;
}

namespace hearth::documents {
struct Database;
class DocumentCursor;
}  // namespace hearth::documents

namespace hearth::engine {

struct ReadViewParts;

// The memory for the keys of changed documents.
inline constexpr size_t kChangedKeysBytesMax = size_t{16} * 1024 * 1024;

// One consistent moment of one database, for as long as a request reads.
//
// Threads: one at a time. Ownership: the engine must outlive it. Errors: those of the store;
// DeadlineExceeded once its moment has left the history: then the past cannot be restored, and a
// snapshot keeps replaced data on the disk.
class ReadView {
 public:
  explicit ReadView(std::unique_ptr<const ReadViewParts> parts);
  ~ReadView();
  ReadView(const ReadView&) = delete;
  ReadView& operator=(const ReadView&) = delete;

  const documents::Database& database() const;
  model::Timestamp read_time() const;
  // The id of the transaction that this read has started; empty if it started none.
  const std::string& new_transaction() const;

  // The document's record; null if the document does not exist. May wait for the disk.
  Result<model::Record> Get(const model::DocumentPath& path) const;
  // nullopt if the answer would have to wait for the disk.
  std::optional<Result<model::Record>> GetIfInMemory(const model::DocumentPath& path) const;

  // Long reads call this between documents. Waits until others have had their turn; an error ends
  // the read. The functions below do the same while they find nothing to return.
  Status Pause() const;

  // The documents whose keys are in `range`. Requires a view opened for scans.
  std::unique_ptr<documents::DocumentCursor> Scan(storage::KeyRange range) const;
  // Descending. Null unless the snapshot is the state at the read time.
  std::unique_ptr<documents::DocumentCursor> ScanBackward(storage::KeyRange range) const;

  // The keys of the documents that have changed between the read time and the snapshot; nullopt if
  // there are more than `max`, or if they have more than kChangedKeysBytesMax. Requires a view
  // opened for scans.
  Result<std::optional<std::set<std::string, std::less<>>>> ChangedDocuments(size_t max) const;

  // For reads that the view itself does not offer.
  const ReadViewParts& parts() const { return *parts_; }

 private:
  Status CheckIsInHistory() const;

  const std::unique_ptr<const ReadViewParts> parts_;
};

}  // namespace hearth::engine
