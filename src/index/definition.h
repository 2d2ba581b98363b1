#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/field_path.h"

namespace hearth::index {

inline constexpr size_t kIndexFieldsMax = 100;

enum class FieldMode : uint8_t { kAscending, kDescending, kContains, kMapEntries };

struct IndexField {
  model::FieldPath path;
  FieldMode mode;
  friend auto operator<=>(const IndexField&, const IndexField&) = default;
};

// The last part of a vector index: the field with the vectors, which all have one dimension.
struct VectorPart {
  model::FieldPath path;
  uint32_t dimension;
  friend auto operator<=>(const VectorPart&, const VectorPart&) = default;
};

enum class QueryScope : uint8_t { kCollection, kCollectionGroup };

// Defines which entries an index has. A document of the collection group has entries if it has a
// value for every field: one entry or, if a field has mode kContains (at most one may), one per
// distinct element of its array, or with mode kMapEntries (at most one may), one per entry of its
// map. Entries sort by the fields in turn and then by name; those of a map by key and then by
// value, so that the entries with one key are those of an index on the field with that key. An
// index without fields lists names. With a vector part, only documents that have such a vector have
// entries.
struct Definition {
  std::string collection_id;
  QueryScope scope = QueryScope::kCollection;
  std::vector<IndexField> fields;
  bool name_descending = false;
  std::optional<VectorPart> vector = {};

  friend auto operator<=>(const Definition&, const Definition&) = default;
};

// The canonical one of the two equivalent forms of an index: an index read backwards is the index
// with all directions reversed. The first ordered field (or the name) is ascending. An index with a
// vector has no order, so everything is ascending.
Definition Canonical(Definition definition);

// The form of `definition` that serves all keys of a map, if the field at `position`, which must be
// ascending, is in a map; nullopt if it is not.
std::optional<Definition> SharedForm(const Definition& definition, size_t position);
// The index on one field that `shared` serves for the field `path` of its map; nullopt if it has no
// such map.
std::optional<Definition> FormFor(const model::FieldPath& path, const Definition& shared);
// The position of the field with mode kMapEntries.
std::optional<size_t> MapPosition(const Definition& definition);

// As Firestore writes it: "(foo ASC, tags CONTAINS, __name__ ASC)" or
// "(foo ASC, __name__ ASC, embedding VECTOR<3>)".
std::string Properties(const Definition& definition);

}  // namespace hearth::index
