#include "model/index_entries.h"

namespace hearth::model {
namespace {

constexpr size_t kEntriesPerField = 2;

// The maximum depth of validated fields bounds the recursion.
size_t CountMap(MapView map) {
  size_t entries = 0;
  while (const std::optional<FieldView> field = map.Next()) {
    entries += kEntriesPerField;
    if (field->value.type() == ValueType::kMap) entries += CountMap(field->value.map());
    if (field->value.type() == ValueType::kArray) {
      for (ArrayView rest = field->value.array(); rest.Next();) ++entries;
    }
  }
  return entries;
}

}  // namespace

size_t CountIndexEntries(const Fields& fields) { return CountMap(fields.view()); }

}  // namespace hearth::model
