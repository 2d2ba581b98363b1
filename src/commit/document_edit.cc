#include "commit/document_edit.h"

#include <utility>

#include "base/status_macros.h"
#include "model/limits.h"

namespace hearth::commit {
namespace {

using model::FieldEditor;
using model::FieldPath;
using model::Fields;
using model::FieldTransform;
using model::Timestamp;

// `base` with the masked paths taken from `update`: set if present there, otherwise removed.
Fields Merge(const Fields& base, const Fields& update, const std::vector<FieldPath>& mask) {
  FieldEditor editor(base);
  for (const FieldPath& path : mask) {
    if (path.IsName()) continue;
    if (const std::optional<model::ValueView> value = update.Find(path)) {
      editor.Set(path, std::string(value->encoded()));
    } else {
      editor.Remove(path);
    }
  }
  return editor.Finish();
}

// Transforms can make values deeper and larger than the input that was checked before.
Result<Fields> Transform(const Fields& base, const std::vector<FieldTransform>& transforms,
                         Timestamp commit_time, std::vector<std::string>* results) {
  FieldEditor editor(base);
  for (const FieldTransform& transform : transforms) {
    std::string value = ApplyTransform(transform, editor.Get(transform.path), commit_time);
    results->push_back(TransformResult(transform, value));
    editor.Set(transform.path, std::move(value));
  }
  return Fields::Validate(editor.Finish().encoded());
}

// The name of a write in Firestore's messages.
std::string_view OperationOf(const request::Write& write) {
  if (write.kind == request::WriteKind::kDelete) return "delete";
  if (write.precondition.exists == false) return "insert";
  return write.precondition.exists || write.precondition.update_time ? "update" : "upsert";
}

}  // namespace

std::string DocumentEdit::Name() const { return database_.text() + "/documents/" + path_.path(); }

Fields DocumentEdit::Current() const {
  if (!Exists()) return Fields();
  if (state_ == State::kWritten) return written_;
  return Fields::FromTrusted(std::string(model::RecordFields(*before_)));
}

Status DocumentEdit::CheckSequence(const request::Write& write) const {
  const bool must_exist = write.precondition.exists == true || write.precondition.update_time;
  const bool is_impossible = (state_ == State::kDeleted && must_exist) ||
                             (state_ == State::kWritten && write.precondition.exists == false);
  if (!is_impossible) return Status();
  return InvalidArgument("Cannot " + std::string(last_operation_) + " then " +
                         std::string(OperationOf(write)) + " an entity in the same request.");
}

Status DocumentEdit::CheckPrecondition(const request::Precondition& precondition) const {
  if (precondition.exists == true && !Exists()) {
    return Status(Code::kNotFound, "No document to update: " + Name());
  }
  if (precondition.exists == false && Exists()) {
    return Status(Code::kAlreadyExists, "Document already exists: " + Name());
  }
  return precondition.update_time ? CheckVersion(*precondition.update_time) : Status();
}

Status DocumentEdit::CheckVersion(Timestamp required) const {
  // A document created in this commit has no version yet.
  const bool has_version = Exists() && before_ && !was_deleted_;
  const Timestamp stored = has_version ? model::RecordUpdateTime(*before_) : Timestamp();
  if (stored == required) return Status();
  if (has_version && stored < required) {
    return InvalidArgument("Invalid base version, it is greater than the stored version: " +
                           Name());
  }
  return Status(Code::kFailedPrecondition, "the stored version (" +
                                               std::to_string(stored.micros()) +
                                               ") does not match the required base version (" +
                                               std::to_string(required.micros()) + ")");
}

Status DocumentEdit::Apply(request::Write& write, Timestamp commit_time,
                           std::vector<std::string>* transform_results) {
  RETURN_IF_ERROR(CheckSequence(write));
  RETURN_IF_ERROR(CheckPrecondition(write.precondition));
  if (write.kind == request::WriteKind::kVerify) return Status();
  last_operation_ = OperationOf(write);
  if (write.kind == request::WriteKind::kDelete) {
    state_ = State::kDeleted;
    was_deleted_ = true;
    return Status();
  }
  Fields fields =
      write.mask ? Merge(Current(), write.fields, *write.mask) : std::move(write.fields);
  transforms_ += write.transforms.size();
  if (transforms_ > model::kTransformsPerDocumentMax) {
    return InvalidArgument("a document can have at most " +
                           std::to_string(model::kTransformsPerDocumentMax) +
                           " field transforms in one commit: " + Name());
  }
  if (!write.transforms.empty()) {
    ASSIGN_OR_RETURN(fields, Transform(fields, write.transforms, commit_time, transform_results));
  }
  RETURN_IF_ERROR(ValidateDocument(database_, path_, fields));
  written_ = std::move(fields);
  state_ = State::kWritten;
  return Status();
}

bool DocumentEdit::IsChange() const {
  if (state_ == State::kUntouched) return false;
  if (!Exists() || !before_) return Exists() != !!before_;
  return was_deleted_ || written_.encoded() != model::RecordFields(*before_);
}

model::Record DocumentEdit::After(Timestamp commit_time) const {
  if (!Exists()) return nullptr;
  if (!IsChange()) return before_;
  const bool is_new = !before_ || was_deleted_;
  const Timestamp create_time = is_new ? commit_time : model::RecordCreateTime(*before_);
  return std::make_shared<const std::string>(
      model::EncodeRecord(create_time, commit_time, written_));
}

}  // namespace hearth::commit
