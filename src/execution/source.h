#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "documents/document_cursor.h"
#include "index/index_set.h"
#include "model/document_key.h"
#include "model/names.h"
#include "model/record.h"
#include "query/query.h"
#include "storage/store.h"

namespace hearth::execution {

// One moment of one database, as queries read it: the read time. Index entries come from a snapshot
// that may be slightly later; `changed` lists the documents that must be read individually.
//
// Threads: one at a time. Errors: those of the store.
class Source {
 public:
  virtual ~Source() = default;

  virtual const model::DatabaseName& database_name() const = 0;
  virtual model::DatabaseNumber database_number() const = 0;

  // The indexes that are ready here are exactly those that are complete in the snapshot.
  virtual const index::IndexSet& indexes() const = 0;
  virtual std::unique_ptr<storage::Cursor> ScanIndexes(storage::KeyRange range,
                                                       storage::Direction direction) const = 0;
  // The value of one entry; nullopt if there is none.
  virtual Result<std::optional<std::string>> GetIndexEntry(std::string_view key) const = 0;

  // The answer of an approximate index.
  struct NearEntries {
    std::vector<std::string> keys;  // Keys of entries; some may no longer exist.
    bool is_all = false;            // Nothing else is within the threshold.
  };
  // About `count` entries of the vector index that are probably the nearest, for the caller to
  // compare, plus all that may have changed very recently. nullopt if every entry must be compared.
  virtual std::optional<NearEntries> FindNearEntries(const index::Index& index,
                                                     const query::FindNearest& wanted,
                                                     size_t count) const = 0;

  // The keys of the documents that changed between the read time and the snapshot; nullopt if there
  // are too many to handle one by one.
  using Changed = std::optional<std::set<std::string, std::less<>>>;
  virtual const Changed& changed() const = 0;

  virtual std::unique_ptr<documents::DocumentCursor> ScanDocuments(
      storage::KeyRange range) const = 0;
  // Descending. Null if that is not possible because documents have changed since.
  virtual std::unique_ptr<documents::DocumentCursor> ScanDocumentsBackward(
      storage::KeyRange range) const = 0;
  // The document's record; null if there is none.
  virtual Result<model::Record> Get(const model::DocumentPath& path) const = 0;
};

}  // namespace hearth::execution
