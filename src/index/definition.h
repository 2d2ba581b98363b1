#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/field_path.h"

namespace hearth::index {

inline constexpr size_t kIndexFieldsMax = 100;

enum class FieldMode : uint8_t { kAscending, kDescending, kContains };

struct IndexField {
  model::FieldPath path;
  FieldMode mode;
  friend auto operator<=>(const IndexField&, const IndexField&) = default;
};

// The last part of a vector index: a field whose vectors, of one dimension, the entries have.
struct VectorPart {
  model::FieldPath path;
  uint32_t dimension;
  friend auto operator<=>(const VectorPart&, const VectorPart&) = default;
};

enum class QueryScope : uint8_t { kCollection, kCollectionGroup };

// Which entries an index has. A document of the collection group has entries if it has a value for
// every field: one, or for a field of mode kContains (at most one) one for each distinct element of
// its array. Entries sort by the fields in turn and then by name. An index without fields lists
// names. With a vector part, only documents that have such a vector have entries.
struct Definition {
  std::string collection_id;
  QueryScope scope = QueryScope::kCollection;
  std::vector<IndexField> fields;
  bool name_descending = false;
  std::optional<VectorPart> vector = {};

  friend auto operator<=>(const Definition&, const Definition&) = default;
};

// The same index as queries see it, in one of its two forms: an index read backwards is the index
// with all directions turned round. The first ordered field (or the name) is ascending. Where there
// is a vector, nothing is in order and everything is ascending.
Definition Canonical(Definition definition);

// "(foo ASC, tags CONTAINS, __name__ ASC)" or "(foo ASC, __name__ ASC, embedding VECTOR<3>)", as
// Firestore writes it.
std::string Properties(const Definition& definition);

}  // namespace hearth::index
