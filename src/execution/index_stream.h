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

// Documents whose index entries share so much that they must be put in order here hold at most
// so many bytes of memory.
inline constexpr size_t kCutGroupBytesMax = 64 * 1024 * 1024;

// One index of a scan: the entries with certain values in the first fields.
struct ScannedIndex {
  const index::Index* index;
  std::string prefix;  // Of the keys: number, collection and the values that are fixed.
  // The entries' directions are the opposite of the layout's, in all components and the name.
  bool inverted = false;
};

// A condition on one component of the suffix, in its ascending form.
struct ComponentFilter {
  size_t component;
  ValueRange values;
};

// How one conjunction is answered from indexes whose entries, after their fixed values, all consist
// of the same components in the same order: the layout's fields without the constant ones. With
// several indexes, the documents that are in all of them.
struct IndexScan {
  std::vector<ScannedIndex> indexes;
  Range range;  // Of the suffixes, in the layout's directions.
  std::vector<ComponentFilter> filters;
  Constants constants;  // Fields of the layout that are fixed, and so not in the suffix.
  // True when the entries alone decide, unless components are cut off.
  bool is_exact = true;
};

std::unique_ptr<Stream> NewIndexStream(const Context& context,
                                       const query::Conjunction& conjunction, IndexScan scan);

}  // namespace hearth::execution
