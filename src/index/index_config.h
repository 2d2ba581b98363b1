// The contents of a firestore.indexes.json file. docs/index-configuration.md documents the file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "index/definition.h"
#include "model/field_path.h"
#include "vector/distance.h"

namespace hearth::index {

inline constexpr size_t kIndexConfigBytesMax = 4 * 1024 * 1024;
inline constexpr size_t kIndexConfigDepthMax = 32;
// Composite and vector indexes and TTL policies of one database together. All of them are built and
// cost writes. Firestore's limit on composite indexes.
inline constexpr size_t kDeclaredIndexesMax = 1'000;
inline constexpr uint32_t kHnswLinksMin = 2;
inline constexpr uint32_t kHnswLinksMax = 128;
inline constexpr uint32_t kHnswCandidatesMax = 10'000;
// Firestore's limit on the offset of a TTL policy.
inline constexpr std::chrono::seconds kTtlOffsetMax{2'147'483'647};

using model::DistanceMeasure;

// How the graph of an approximate vector index is built and searched.
struct HnswOptions {
  uint32_t links = 16;  // "m": the links per vector.
  uint32_t construction_candidates = 200;
  uint32_t search_candidates = 100;
  DistanceMeasure distance_measure = DistanceMeasure::kCosine;

  friend bool operator==(const HnswOptions&, const HnswOptions&) = default;
};

struct VectorIndex {
  std::string collection_group;
  QueryScope scope = QueryScope::kCollection;
  std::vector<IndexField> prefix;  // Fields that a search may filter by equality.
  model::FieldPath field;
  uint32_t dimension;
  std::optional<HnswOptions> hnsw;  // nullopt: every candidate is compared.

  friend bool operator==(const VectorIndex&, const VectorIndex&) = default;
};
// The definition of the index with its entries. Canonical.
Definition DefinitionOf(const VectorIndex& index);

// An index of one field, as configured for that field.
struct SingleFieldIndex {
  FieldMode mode;
  QueryScope scope;

  friend bool operator==(const SingleFieldIndex&, const SingleFieldIndex&) = default;
};

// All single-field indexes of a field, in place of the automatic ones.
struct FieldOverride {
  std::string collection_group;
  std::optional<model::FieldPath> field;  // nullopt: every field without an override, "*".
  std::vector<SingleFieldIndex> indexes;  // Empty: the field is exempt from indexing.

  friend bool operator==(const FieldOverride&, const FieldOverride&) = default;
};

// A document expires at the time in `field`, plus `offset`.
struct TtlPolicy {
  std::string collection_group;
  model::FieldPath field;
  std::chrono::seconds offset{0};

  friend bool operator==(const TtlPolicy&, const TtlPolicy&) = default;
};

// A valid configuration as ParseIndexConfig returns it: there are no duplicates, and each list is
// in the order in which PrintIndexConfig writes it.
struct IndexConfig {
  std::vector<Definition> composites;
  std::vector<VectorIndex> vectors;
  std::vector<FieldOverride> overrides;
  std::vector<TtlPolicy> ttl_policies;  // At most one per collection group.

  friend bool operator==(const IndexConfig&, const IndexConfig&) = default;
};

// InvalidArgument if there are more than kDeclaredIndexesMax.
Status CheckDeclaredIndexes(const IndexConfig& config);

// InvalidArgument, with the location in the file, for anything that has no meaning, and for too
// many indexes.
Result<IndexConfig> ParseIndexConfig(std::string_view json);

// The file as firebase-tools writes it, with Hearth's own keys only if they are needed. Parsing the
// result gives `config` again, unless the text is longer than kIndexConfigBytesMax.
std::string PrintIndexConfig(const IndexConfig& config);

// Parses and prints the offset of a TTL policy: "90s", "15m", "12h" or "2d", printed in the largest
// unit that needs no fraction. InvalidArgument for anything else and beyond kTtlOffsetMax.
Result<std::chrono::seconds> ParseTtlOffset(std::string_view text);
std::string TtlOffsetText(std::chrono::seconds offset);

// The spelling in Firestore's configuration, such as "ASCENDING".
std::string_view DistanceMeasureText(DistanceMeasure measure);
std::string_view QueryScopeText(QueryScope scope);

}  // namespace hearth::index
