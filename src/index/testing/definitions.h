// For tests: short ways to write index definitions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/definition.h"
#include "model/field_path.h"

namespace hearth::index {

inline IndexField Up(std::string_view path) {
  return {*model::FieldPath::Parse(path), FieldMode::kAscending};
}
inline IndexField Down(std::string_view path) {
  return {*model::FieldPath::Parse(path), FieldMode::kDescending};
}
inline IndexField In(std::string_view path) {
  return {*model::FieldPath::Parse(path), FieldMode::kContains};
}
inline IndexField Entries(std::string_view path) {
  return {*model::FieldPath::Parse(path), FieldMode::kMapEntries};
}

inline Definition CollectionIndex(std::string_view collection, std::vector<IndexField> fields,
                                  bool name_descending = false) {
  return {std::string(collection), QueryScope::kCollection, std::move(fields), name_descending};
}
inline Definition GroupIndex(std::string_view collection, std::vector<IndexField> fields,
                             bool name_descending = false) {
  return {std::string(collection), QueryScope::kCollectionGroup, std::move(fields),
          name_descending};
}

}  // namespace hearth::index
