#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/document.h"
#include "model/fields.h"
#include "model/record.h"
#include "request/write.h"

namespace hearth::commit {

// One document on its way through the writes of one commit: its state before and now. Pure: no I/O.
//
// Between the writes the fields are kept decoded, so a write costs what it changes, however large
// the document is.
//
// Threads: one at a time. Ownership: borrows the names from the commit. Errors: those of
// preconditions and limits; after an error the edit must be dropped, and with it the whole commit.
class DocumentEdit {
 public:
  // `before`: the record on disk; null if the document does not exist.
  DocumentEdit(const model::DatabaseName& database, const model::DocumentPath& path,
               model::Record before)
      : database_(database), path_(path), before_(std::move(before)) {}

  // Applies one write. The encoded results of its transforms are added to `transform_results`.
  Status Apply(const request::Write& write, model::Timestamp commit_time,
               std::vector<std::string>* transform_results);

  // Encodes and checks the document. Call it after the last write, before the functions below.
  Status Finish();

  // The document's record after the commit; null if it does not exist. Its update time is
  // `commit_time` only if the commit changed it.
  model::Record After(model::Timestamp commit_time) const;

  // True if the commit changes the stored document.
  bool IsChange() const;
  const model::Record& before() const { return before_; }
  // What the writes have cost so far: the bytes that were decoded, encoded or transformed.
  size_t worked_bytes() const { return worked_bytes_; }

 private:
  enum class State : uint8_t { kUntouched, kWritten, kDeleted };

  bool Exists() const {
    return state_ == State::kUntouched ? !!before_ : state_ == State::kWritten;
  }
  // The document's fields, decoded.
  model::FieldEditor& Editor();
  Status Transform(const std::vector<model::FieldTransform>& transforms,
                   model::Timestamp commit_time, std::vector<std::string>* results);
  // InvalidArgument if earlier writes of the same commit rule out the precondition.
  Status CheckSequence(const request::Write& write) const;
  Status CheckPrecondition(const request::Precondition& precondition) const;
  // InvalidArgument for a version that a stored document has not reached yet: no client can have
  // read it. FailedPrecondition for any other mismatch.
  Status CheckVersion(model::Timestamp required) const;
  std::string Name() const;

  const model::DatabaseName& database_;
  const model::DocumentPath& path_;
  model::Record before_;
  State state_ = State::kUntouched;
  std::string_view last_operation_;  // Unless untouched.
  model::Fields written_;            // In state kWritten, unless there is an editor.
  std::optional<model::FieldEditor> editor_;
  bool was_transformed_ = false;  // Since the editor was created.
  size_t edited_bytes_ = 0;       // Added to the editor.
  size_t transforms_ = 0;         // Over all writes so far.
  size_t worked_bytes_ = 0;
  bool was_deleted_ = false;  // At some point in this commit: later writes create a new document.
};

}  // namespace hearth::commit
