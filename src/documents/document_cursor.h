#pragma once

#include <memory>
#include <string_view>

#include "base/pause.h"
#include "base/status.h"
#include "model/timestamp.h"
#include "storage/store.h"

namespace hearth::documents {

// Walks documents in key order as they were at one moment, within a range of document keys.
//
// Threads: one at a time. Ownership: borrows what it reads. Errors: a cursor that encounters an
// error is not Valid and has a status().
class DocumentCursor {
 public:
  virtual ~DocumentCursor() = default;

  virtual bool Valid() const = 0;
  virtual Status status() const = 0;
  // Require Valid(). They stay valid until the cursor moves.
  virtual std::string_view key() const = 0;
  virtual std::string_view record() const = 0;
  virtual void Next() = 0;
  virtual void Seek(std::string_view document_key) = 0;  // The first document at or after it.
};

// The documents of the snapshot itself. `pause`, which may be null and must outlive the cursor, is
// called while the cursor passes over keys that are no documents of that moment; its error becomes
// the cursor's. The caller pauses between documents.
std::unique_ptr<DocumentCursor> NewPresentCursor(const storage::Snapshot& snapshot,
                                                 storage::KeyRange range,
                                                 storage::Direction direction,
                                                 const PauseFunction* pause = nullptr);

// The documents as they were at `read_time`: those of the snapshot, with the changes of later
// commits undone.
std::unique_ptr<DocumentCursor> NewPastCursor(const storage::Snapshot& snapshot,
                                              storage::KeyRange range, model::Timestamp read_time,
                                              const PauseFunction* pause = nullptr);

}  // namespace hearth::documents
