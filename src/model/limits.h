// Firestore's documented limits on documents and writes.
#pragma once

#include <cstddef>

namespace hearth::model {

inline constexpr size_t kIdBytesMax = 1'500;
inline constexpr size_t kDocumentNameBytesMax = 6 * 1024;
inline constexpr size_t kCollectionDepthMax = 100;
inline constexpr size_t kFieldNameBytesMax = 1'500;
// The length of a path is the UTF-8 bytes of its names plus one byte for each dot between them.
// Backticks and escapes, which only paths in requests have, do not count. Array elements add
// nothing: a field of a map in an array has the array's path followed by its own name. Names inside
// a vector are not fields. The same limit applies to fields of documents and to paths in requests.
// A standalone value (an operand of a filter, cursor or transform) has no path: only its names are
// limited. The result of a transform is checked again as part of its document.
inline constexpr size_t kFieldPathBytesMax = 1'500;
inline constexpr size_t kFieldPathSegmentsMax = 20;
inline constexpr size_t kFieldValueBytesMax = 1'048'487;  // 1 MiB minus 89 bytes.
inline constexpr size_t kDocumentBytesMax = 1'048'576;
inline constexpr size_t kValueDepthMax = 20;
inline constexpr size_t kTransformsPerDocumentMax = 500;
inline constexpr size_t kIndexEntriesPerDocumentMax = 40'000;
inline constexpr size_t kVectorDimensionsMax = 2'048;

}  // namespace hearth::model
