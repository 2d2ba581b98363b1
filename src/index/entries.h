// The entries of one document in one index.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "index/definition.h"
#include "model/names.h"
#include "model/value.h"

namespace hearth::index {

// Identifies an index in keys. Unique across all databases, never reused.
enum class IndexNumber : uint32_t {};

inline constexpr size_t kEntryBytesMax = 7'680;
inline constexpr size_t kEntryBytesPerDocumentMax = 8 * 1024 * 1024;

// One index entry.
//
//   key    := index number (4), [collection], component*, name
//             (before the component of a field with mode kMapEntries: the key in its map)
//   value  := nothing | flags and the end of the first truncated component
//   value of an index with a vector := flags, the end of the first truncated component (0: none),
//             vector (vector/packed_vector.h)
//
// `collection` exists only in indexes of scope kCollection: the segments of the collection's path
// and 00 00. `name` is then the document id's segment. In indexes of scope kCollectionGroup it is
// all segments of the document's path and 00 00. Descending names are complemented. Flags and ends
// are varints.
struct Entry {
  std::string key;
  std::string value;
  friend auto operator<=>(const Entry&, const Entry&) = default;
};

// The decoded value of an entry.
struct EntryFlags {
  // Bytes of the key up to and including the first truncated component; 0: none was truncated.
  // Entries that share these bytes are in no particular order.
  size_t cut_end = 0;
  // One bit for each of the first components: set if the number was a double.
  uint32_t doubles = 0;
};
EntryFlags DecodeFlags(std::string_view value);

// The value of an entry of an index with a vector.
struct VectorEntry {
  EntryFlags flags;
  std::string_view packed;  // Part of the value.
};
// DataLoss if it is not such a value, or if its vector has another dimension.
Result<VectorEntry> DecodeVectorEntry(std::string_view value, uint32_t dimension);

// Sorted by key. InvalidArgument if an entry would be too long.
Result<std::vector<Entry>> EntriesOf(IndexNumber number, const Definition& definition,
                                     const model::DocumentPath& path, std::string_view fields);

// Whether two states of a document have the same values in the index's fields, and so the same
// entries. Cheap, however many entries there are.
bool HasSameValues(const Definition& definition, std::string_view fields,
                   std::string_view other_fields);

// The key prefix of the index, or of one collection's part of it.
std::string IndexKeyPrefix(IndexNumber number);
std::string IndexKeyPrefix(IndexNumber number, std::string_view collection_path);

// Appends one component, truncated if it is too long. Returns true if it was truncated.
bool AppendComponent(const model::ValueView& value, FieldMode mode, std::string* key);

// Appends the name of a document in the form that ends a key.
void AppendName(const model::DocumentPath& path, QueryScope scope, bool descending,
                std::string* key);
// Decodes a name to a path. `collection` is used for scope kCollection.
Result<model::DocumentPath> DecodeName(std::string_view name, QueryScope scope, bool descending,
                                       std::string_view collection);

}  // namespace hearth::index
