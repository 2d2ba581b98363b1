#include "commit/document_edit.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "model/limits.h"

namespace hearth::commit {
namespace {

using model::FieldEditor;
using model::FieldPath;
using model::Fields;
using model::Timestamp;

// More paths than this are worth decoding the fields that they select.
constexpr size_t kFewPaths = 16;

// Without the paths into maps that are selected as a whole, and without repetitions.
std::vector<FieldPath> Outermost(std::vector<FieldPath> mask) {
  std::ranges::sort(mask);  // A path comes right before all that are inside it.
  std::vector<FieldPath> outermost;
  for (FieldPath& path : mask) {
    if (!outermost.empty() && outermost.back().IsPrefixOf(path)) continue;
    outermost.push_back(std::move(path));
  }
  return outermost;
}

// Takes the masked paths from `update`: sets those that it has, and removes the others.
void Merge(const Fields& update, const std::vector<FieldPath>& mask, FieldEditor* editor) {
  std::optional<FieldEditor> decoded;
  std::vector<FieldPath> outermost;
  const std::vector<FieldPath>* paths = &mask;
  if (mask.size() > kFewPaths) {
    outermost = Outermost(mask);
    paths = &outermost;
    decoded.emplace(update);
  }
  const auto value_at = [&](const FieldPath& path) -> std::optional<std::string> {
    if (decoded) return decoded->Take(path);
    const std::optional<model::ValueView> value = update.Find(path);
    return value ? std::optional<std::string>(value->encoded()) : std::nullopt;
  };
  for (const FieldPath& path : *paths) {
    if (path.IsName()) continue;
    if (std::optional<std::string> value = value_at(path)) {
      editor->Set(path, *std::move(value));
    } else {
      editor->Remove(path);
    }
  }
}

// The name of a write in Firestore's messages.
std::string_view OperationOf(const request::Write& write) {
  if (write.kind == request::WriteKind::kDelete) return "delete";
  if (write.precondition.exists == false) return "insert";
  return write.precondition.exists || write.precondition.update_time ? "update" : "upsert";
}

}  // namespace

std::string DocumentEdit::Name() const { return database_.text() + "/documents/" + path_.path(); }

FieldEditor& DocumentEdit::Editor() {
  if (editor_) return *editor_;
  Fields current;
  if (state_ == State::kWritten) {
    current = std::move(written_);
  } else if (Exists()) {
    current = Fields::FromTrusted(std::string(model::RecordFields(*before_)));
  }
  worked_bytes_ += current.encoded().size();
  edited_bytes_ = 0;
  was_transformed_ = false;
  return editor_.emplace(current);
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

Status DocumentEdit::Apply(const request::Write& write, Timestamp commit_time,
                           std::vector<std::string>* transform_results) {
  RETURN_IF_ERROR(CheckSequence(write));
  RETURN_IF_ERROR(CheckPrecondition(write.precondition));
  if (write.kind == request::WriteKind::kVerify) return Status();
  last_operation_ = OperationOf(write);
  if (write.kind == request::WriteKind::kDelete) {
    state_ = State::kDeleted;
    was_deleted_ = true;
    editor_.reset();
    return Status();
  }
  transforms_ += write.transforms.size();
  if (transforms_ > model::kTransformsPerDocumentMax) {
    return InvalidArgument("a document can have at most " +
                           std::to_string(model::kTransformsPerDocumentMax) +
                           " field transforms in one commit: " + Name());
  }
  if (write.mask) {
    FieldEditor& editor = Editor();
    edited_bytes_ += write.fields.encoded().size();
    Merge(write.fields, *write.mask, &editor);
  } else {
    editor_.reset();
    written_ = write.fields;
  }
  state_ = State::kWritten;
  if (!write.transforms.empty()) {
    RETURN_IF_ERROR(Transform(write.transforms, commit_time, transform_results));
  }
  // Many writes together can exceed the limit by far. Decoded, they would take even more memory.
  return edited_bytes_ > model::kDocumentBytesMax ? Finish() : Status();
}

Status DocumentEdit::Transform(const std::vector<model::FieldTransform>& transforms,
                               Timestamp commit_time, std::vector<std::string>* results) {
  FieldEditor& editor = Editor();
  for (const model::FieldTransform& transform : transforms) {
    const std::optional<std::string> current = editor.Take(transform.path);
    std::string value = ApplyTransform(transform, current, commit_time);
    edited_bytes_ += transform.operand.size();
    worked_bytes_ += (current ? current->size() : 0) + transform.operand.size();
    results->push_back(TransformResult(transform, value));
    editor.Set(transform.path, std::move(value));
  }
  was_transformed_ = true;
  return Status();
}

Status DocumentEdit::Finish() {
  if (state_ != State::kWritten) return Status();
  if (editor_) {
    written_ = editor_->Finish();
    editor_.reset();
    edited_bytes_ = 0;
    worked_bytes_ += written_.encoded().size();
    // Transforms can make values deeper and larger than the input that was checked before.
    if (was_transformed_) {
      ASSIGN_OR_RETURN(written_, Fields::Validate(written_.encoded()));
    }
  }
  return ValidateDocument(database_, path_, written_);
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
