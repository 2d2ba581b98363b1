// Names, field paths and values from arbitrary bytes: everything that is accepted must survive a
// round trip through its encoding, and must be safe to compare and edit.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "model/document.h"
#include "model/field_path.h"
#include "model/fields.h"
#include "model/names.h"
#include "model/path_encoding.h"
#include "model/value_order.h"

namespace hearth::model {
namespace {

void FuzzFieldPath(std::string_view text) {
  const Result<FieldPath> path = FieldPath::Parse(text);
  if (!path.ok()) return;
  const Result<FieldPath> again = FieldPath::Parse(path->ToString());
  CHECK(again.ok() && *again == *path);
}

void FuzzNames(std::string_view text) {
  const Result<DocumentPath> path = DocumentPath::Parse(text);
  if (path.ok()) {
    const Result<DocumentPath> again = DecodeDocumentPath(EncodeDocumentPath(*path));
    CHECK(again.ok() && *again == *path);
  }
  const Result<DocumentName> name = DocumentName::Parse(text);
  if (name.ok()) CHECK(name->ToString() == text);
  (void)ParentName::Parse(text);
  (void)DecodeDocumentPath(text);
}

void FuzzFields(std::string_view bytes) {
  const Result<Fields> fields = Fields::Validate(std::string(bytes));
  if (!fields.ok()) return;
  const Result<Fields> again = Fields::Validate(fields->encoded());
  CHECK(again.ok() && *again == *fields);
  CHECK(FieldEditor(*fields).Finish() == *fields);
  std::optional<ValueView> previous;
  for (MapView rest = fields->view(); const std::optional<FieldView> field = rest.Next();) {
    CHECK(CompareValues(field->value, field->value) == 0);
    if (previous) {
      CHECK(CompareValues(*previous, field->value) == 0 <=> CompareValues(field->value, *previous));
    }
    previous = field->value;
  }
  (void)fields->SizeBytes();
}

}  // namespace
}  // namespace hearth::model

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      hearth::model::FuzzFields(rest);
      break;
    case 1:
      hearth::model::FuzzFieldPath(rest);
      break;
    default:
      hearth::model::FuzzNames(rest);
  }
  return 0;
}
