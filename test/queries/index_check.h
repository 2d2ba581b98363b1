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

// The indexes that the store knows of, by number.
std::map<uint32_t, index::IndexRecord> StoredIndexes(const storage::Store& store);

// What is wrong with the index entries in the store: those that a document should have and has not,
// and those that no document accounts for. An index that is being built may lack entries, but has
// no wrong ones. Empty: all is well. Requires that nobody writes.
std::vector<std::string> IndexFaults(const storage::Store& store);

// Has the engine that is opened next on this store build the indexes. Requires that none is open.
Status DeclareIndexes(const std::vector<index::Definition>& definitions,
                      model::DatabaseNumber database, storage::Store* store);

}  // namespace hearth::queries
