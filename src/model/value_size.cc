#include "model/value_size.h"

#include <algorithm>

namespace hearth::model {
namespace {

constexpr size_t kNumberSizeBytes = 8;
constexpr size_t kNameBytes = 16;

size_t ArraySizeBytes(ArrayView array) {
  size_t size = 0;
  while (const std::optional<ValueView> item = array.Next()) size += ValueSizeBytes(*item);
  return size;
}

// For a reference only the path counts, not the project and the database.
std::string_view PathOfReference(std::string_view name) {
  // Skips "projects/P/databases/D/documents/" by counting slashes: P and D may be "documents"
  // themselves.
  for (int slashes = 0; slashes < 5; ++slashes) name.remove_prefix(name.find('/') + 1);
  return name;
}

}  // namespace

size_t PathSizeBytes(std::string_view path) {
  // Each id counts one extra byte: the '/' after every id but the last, plus one for the last.
  return kNameBytes + path.size() + 1;
}

size_t ValueSizeBytes(const ValueView& value) {
  switch (value.type()) {
    case ValueType::kNull:
    case ValueType::kBoolean:
      return 1;
    case ValueType::kInteger:
    case ValueType::kDouble:
    case ValueType::kTimestamp:
      return kNumberSizeBytes;
    case ValueType::kString:
      return TextSizeBytes(value.text());
    case ValueType::kBytes:
      return value.text().size();
    case ValueType::kReference:
      return PathSizeBytes(PathOfReference(value.text()));
    case ValueType::kGeoPoint:
      return 2 * kNumberSizeBytes;
    case ValueType::kArray:
      return std::max<size_t>(1, ArraySizeBytes(value.array()));
    case ValueType::kVector:
      return ArraySizeBytes(value.vector());
    case ValueType::kMap:
      return std::max<size_t>(1, MapSizeBytes(value.map()));
  }
  return 0;
}

size_t MapSizeBytes(MapView map) {
  size_t size = 0;
  while (const std::optional<FieldView> field = map.Next()) {
    size += TextSizeBytes(field->name) + ValueSizeBytes(field->value);
  }
  return size;
}

}  // namespace hearth::model
