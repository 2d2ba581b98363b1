#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "execution/document_streams.h"
#include "execution/stream.h"
#include "index/index_set.h"

namespace hearth::execution {

// Memory limit for documents that must be sorted here because their index entries share a truncated
// component.
inline constexpr size_t kCutGroupBytesMax = 64 * 1024 * 1024;

// One index of a scan: the entries with given values in the first fields.
struct ScannedIndex {
  const index::Index* index;
  std::string prefix;  // Of the keys: number, collection and the fixed values.
  // The entries' directions are the reverse of the layout's, in all components and the name.
  bool inverted = false;
};

// A condition on one component of the suffix, in its ascending form.
struct ComponentFilter {
  size_t component;
  ValueRange values;
};

// How one conjunction is answered from indexes whose entries, after their fixed values, all have
// the same components in the same order: the layout's fields without the constant ones. With
// several indexes, the results are the documents that are in all of them.
struct IndexScan {
  std::vector<ScannedIndex> indexes;
  Range range;  // Of the suffixes, in the layout's directions.
  std::vector<ComponentFilter> filters;
  Constants constants;  // Fixed fields of the layout, which are not in the suffix.
  // True if the entries alone decide, unless components are truncated.
  bool is_exact = true;
};

std::unique_ptr<Stream> NewIndexStream(const Context& context,
                                       const query::Conjunction& conjunction, IndexScan scan);

}  // namespace hearth::execution
