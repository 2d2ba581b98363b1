#include "engine/document_edit.h"

#include <utility>

namespace hearth::engine {
namespace {

using model::Document;
using model::FieldEditor;
using model::FieldPath;
using model::Fields;
using model::FieldTransform;
using model::Timestamp;

// `base` with the masked paths taken from `update`: set where it has them, removed where not.
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

// Transforms can nest deeper and grow larger than what the client sent and was checked before.
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

}  // namespace

DocumentEdit::DocumentEdit(const model::DatabaseName& database, const model::DocumentPath& path,
                           std::optional<Document> before)
    : database_(database), path_(path), before_(std::move(before)) {
  if (before_) now_ = before_->fields;
}

std::string DocumentEdit::Name() const { return database_.text() + "/documents/" + path_.path(); }

Status DocumentEdit::CheckPrecondition(const Precondition& precondition) const {
  if (precondition.exists == true && !now_) {
    return Status(Code::kNotFound, "No document to update: " + Name());
  }
  if (precondition.exists == false && now_) {
    return Status(Code::kAlreadyExists, "Document already exists: " + Name());
  }
  if (precondition.update_time) {
    const int64_t stored = now_ && before_ ? before_->update_time.micros() : 0;
    const int64_t required = precondition.update_time->micros();
    if (stored != required) {
      return Status(Code::kFailedPrecondition, "the stored version (" + std::to_string(stored) +
                                                   ") does not match the required base version (" +
                                                   std::to_string(required) + ")");
    }
  }
  return Status();
}

Status DocumentEdit::Apply(const Write& write, Timestamp commit_time,
                           std::vector<std::string>* transform_results) {
  RETURN_IF_ERROR(CheckPrecondition(write.precondition));
  if (write.kind == WriteKind::kDelete) {
    now_.reset();
    was_deleted_ = true;
    return Status();
  }
  now_ = write.mask ? Merge(now_.value_or(Fields()), write.fields, *write.mask) : write.fields;
  if (!write.transforms.empty()) {
    ASSIGN_OR_RETURN(now_, Transform(*now_, write.transforms, commit_time, transform_results));
  }
  return ValidateDocumentSize(database_, path_, *now_);
}

bool DocumentEdit::IsChange() const {
  if (!now_ || !before_) return now_.has_value() != before_.has_value();
  return was_deleted_ || *now_ != before_->fields;
}

std::optional<Document> DocumentEdit::After(Timestamp commit_time) const {
  if (!now_) return std::nullopt;
  if (!IsChange()) return before_;
  const bool is_new = !before_ || was_deleted_;
  return Document{is_new ? commit_time : before_->create_time, commit_time, *now_};
}

}  // namespace hearth::engine
