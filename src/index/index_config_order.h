// The order of the entries in a firestore.indexes.json file, which is that of firebase-tools, and
// the equality of index definitions.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "index/definition.h"
#include "index/index_config.h"

namespace hearth::index {

enum class FieldRank : uint8_t { kAscending, kDescending, kContains, kVector };

struct FieldKey {
  std::string path;
  FieldRank rank;
  uint32_t dimension = 0;  // For a vector.
  friend auto operator<=>(const FieldKey&, const FieldKey&) = default;
};

// Two indexes are the same if their keys are equal.
struct IndexKey {
  std::string collection_group;
  bool single_collection;  // Collection groups come first.
  std::vector<FieldKey> fields;
  friend auto operator<=>(const IndexKey&, const IndexKey&) = default;
};

// The direction of the name in an index whose configuration does not mention it.
bool ImpliedNameDescending(const std::vector<IndexField>& fields);

IndexKey KeyOf(const Definition& definition);
IndexKey KeyOf(const VectorIndex& index);

// Sorts every list of `config`, and removes duplicates.
void Sort(IndexConfig& config);

}  // namespace hearth::index
