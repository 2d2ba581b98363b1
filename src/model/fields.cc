#include "model/fields.h"

#include <algorithm>
#include <functional>
#include <span>

#include "model/value_canonical.h"
#include "model/value_size.h"
#include "model/value_validator.h"
#include "model/value_wire.h"

namespace hearth::model {
namespace {

using Mask = std::span<const FieldPath* const>;

// The paths of a sorted mask that have `name` as the segment at `depth`.
Mask PathsThrough(Mask mask, size_t depth, std::string_view name) {
  const auto segment = [depth](const FieldPath* path) -> std::string_view {
    return path->segments()[depth];
  };
  const auto first = std::ranges::lower_bound(mask, name, std::less<>(), segment);
  const auto last = std::ranges::upper_bound(mask, name, std::less<>(), segment);
  return Mask(first, last);
}

// Appends the fields of `map` that `mask` names. `mask` is sorted, and the first `depth` segments
// of its paths lead to `map`.
void ProjectMap(MapView map, MapView::Tag tag, Mask mask, size_t depth, std::string* out) {
  while (const std::optional<FieldView> field = map.Next()) {
    const Mask paths = PathsThrough(mask, depth, field->name);
    if (paths.empty()) continue;
    // The shortest path sorts first: it decides whether the whole field is selected.
    if (paths[0]->segments().size() == depth + 1) {
      AppendField(tag, field->name, field->value.encoded(), out);
    } else if (field->value.type() == ValueType::kMap) {
      std::string body;
      ProjectMap(field->value.map(), MapView::Tag::kNestedMap, paths, depth + 1, &body);
      if (body.empty()) continue;
      std::string value;
      AppendBytes(kMapTag, body, &value);
      AppendField(tag, field->name, value, out);
    }
  }
}

}  // namespace

Result<Fields> Fields::Validate(std::string encoded) {
  ValueValidator validator;
  if (!validator.CheckFields(encoded)) return validator.status();
  return Fields(validator.canonical() ? std::move(encoded) : CanonicalFields(encoded));
}

std::optional<ValueView> Fields::Find(const FieldPath& path) const {
  return FindField(encoded_, path);
}

Fields Fields::Project(const std::vector<FieldPath>& mask) const {
  std::vector<const FieldPath*> sorted;
  sorted.reserve(mask.size());
  for (const FieldPath& path : mask) sorted.push_back(&path);
  std::ranges::sort(sorted,
                    [](const FieldPath* left, const FieldPath* right) { return *left < *right; });
  std::string projected;
  ProjectMap(view(), MapView::Tag::kDocument, sorted, 0, &projected);
  return Fields(std::move(projected));
}

size_t Fields::SizeBytes() const { return MapSizeBytes(view()); }

std::optional<ValueView> FindField(std::string_view encoded_fields, const FieldPath& path) {
  MapView map(encoded_fields, MapView::Tag::kDocument);
  std::span<const std::string> segments = path.segments();
  while (true) {
    const std::optional<ValueView> value = map.Find(segments[0]);
    segments = segments.subspan(1);
    if (!value || segments.empty()) return value;
    if (value->type() != ValueType::kMap) return std::nullopt;
    map = value->map();
  }
}

Result<std::string> ValidateValue(std::string encoded) {
  ValueValidator validator;
  if (!validator.CheckValue(encoded)) return validator.status();
  return validator.canonical() ? std::move(encoded) : CanonicalValue(encoded);
}

}  // namespace hearth::model
