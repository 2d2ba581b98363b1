// The records of indexes on disk.
#pragma once

#include <string>
#include <string_view>

#include "documents/keys.h"
#include "index/entries.h"
#include "model/document_key.h"
#include "storage/store.h"

namespace hearth::indexing {

inline std::string IndexMetaKey(std::string_view prefix, index::IndexNumber number) {
  return std::string(prefix) + model::EncodeUint32(static_cast<uint32_t>(number));
}
inline std::string RecordKey(index::IndexNumber number) {
  return IndexMetaKey(documents::kIndexKeyPrefix, number);
}
inline std::string UseKey(index::IndexNumber number) {
  return IndexMetaKey(documents::kIndexUseKeyPrefix, number);
}
// For an index that is gone, but whose entries may still exist.
inline std::string RemainsKey(index::IndexNumber number) {
  return IndexMetaKey(documents::kIndexRemainsKeyPrefix, number);
}

// Removes the index, except for its entries.
inline void StageDrop(index::IndexNumber number, storage::Batch* batch) {
  batch->Delete(storage::Space::kMeta, RecordKey(number));
  batch->Delete(storage::Space::kMeta, UseKey(number));
  batch->Put(storage::Space::kMeta, RemainsKey(number), "");
}

}  // namespace hearth::indexing
