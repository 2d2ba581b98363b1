#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "index/definition.h"
#include "index/index_record.h"
#include "model/document_key.h"
#include "storage/store.h"

namespace hearth::queries {

// The indexes in the store, by number.
std::map<uint32_t, index::IndexRecord> StoredIndexes(const storage::Store& store);

// Errors in the index entries of the store: entries that a document should have but has not, and
// entries that belong to no document. An index that is being built may lack entries, but has no
// wrong ones. Empty if there are none. Requires that there are no concurrent writes.
std::vector<std::string> IndexFaults(const storage::Store& store);

// Makes the next engine on this store build the indexes. Requires that no engine is open.
Status DeclareIndexes(const std::vector<index::Definition>& definitions,
                      model::DatabaseNumber database, storage::Store* store);

}  // namespace hearth::queries
