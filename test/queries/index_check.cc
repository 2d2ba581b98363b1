#include "queries/index_check.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "documents/keys.h"
#include "index/entries.h"
#include "model/document.h"

namespace hearth::queries {
namespace {

using index::IndexNumber;
using index::IndexRecord;
using storage::Space;

std::map<std::string, std::string> ReadSpace(const storage::Store& store, Space space,
                                             std::string_view prefix) {
  std::map<std::string, std::string> entries;
  const auto snapshot = store.NewSnapshot();
  const auto cursor =
      snapshot->Scan(space, storage::PrefixRange(prefix), storage::Direction::kForward);
  for (; cursor->Valid(); cursor->Next()) entries.emplace(cursor->key(), cursor->value());
  CHECK(cursor->status().ok());
  return entries;
}

uint32_t NumberAtEnd(std::string_view key) {
  return *model::DecodeUint32(key.substr(key.size() - sizeof(uint32_t)));
}

std::string Describe(const IndexRecord& record) {
  return record.definition.collection_id + " " + index::Properties(record.definition) +
         (record.definition.scope == index::QueryScope::kCollectionGroup ? " group" : "") +
         (record.state == index::State::kReady ? "" : " (being built)");
}

// All entries that the index should have, with their documents.
std::map<index::Entry, std::string> ExpectedEntries(
    uint32_t number, const IndexRecord& record,
    const std::map<std::string, std::string>& documents) {
  std::map<index::Entry, std::string> expected;
  for (const auto& [key, value] : documents) {
    if (!key.starts_with(model::DatabaseKeyPrefix(record.database))) continue;
    const model::DocumentPath path = *model::DocumentPathOfKey(key);
    const std::string_view collection = path.collection();
    if (collection.substr(collection.rfind('/') + 1) != record.definition.collection_id) continue;
    Result<std::vector<index::Entry>> entries =
        index::EntriesOf(IndexNumber{number}, record.definition, path, model::RecordFields(value));
    CHECK(entries.ok());
    for (index::Entry& entry : *entries) expected.emplace(std::move(entry), path.path());
  }
  return expected;
}

}  // namespace

std::map<uint32_t, IndexRecord> StoredIndexes(const storage::Store& store) {
  std::map<uint32_t, IndexRecord> indexes;
  for (const auto& [key, value] : ReadSpace(store, Space::kMeta, documents::kIndexKeyPrefix)) {
    indexes.emplace(NumberAtEnd(key), *index::DecodeIndexRecord(value));
  }
  return indexes;
}

std::vector<std::string> IndexFaults(const storage::Store& store) {
  std::vector<std::string> faults;
  const std::map<std::string, std::string> documents = ReadSpace(store, Space::kDocuments, "");
  std::map<std::string, std::string> stored = ReadSpace(store, Space::kIndexes, "");
  for (const auto& [number, record] : StoredIndexes(store)) {
    for (const auto& [entry, path] : ExpectedEntries(number, record, documents)) {
      const auto found = stored.find(entry.key);
      if (found == stored.end()) {
        if (record.state != index::State::kReady) continue;
        faults.push_back("missing: " + path + " in " + Describe(record));
        continue;
      }
      if (found->second != entry.value) faults.push_back("value: " + path + Describe(record));
      stored.erase(found);
    }
  }
  std::set<uint32_t> remains;
  for (const auto& [key, value] :
       ReadSpace(store, Space::kMeta, documents::kIndexRemainsKeyPrefix)) {
    remains.insert(NumberAtEnd(key));
  }
  for (const auto& [key, value] : stored) {
    const uint32_t number = *model::DecodeUint32(key.substr(0, sizeof(uint32_t)));
    if (remains.contains(number)) continue;
    const auto indexes = StoredIndexes(store);
    const auto record = indexes.find(number);
    faults.push_back("superfluous: an entry in " +
                     (record == indexes.end() ? "no index" : Describe(record->second)));
  }
  return faults;
}

Status DeclareIndexes(const std::vector<index::Definition>& definitions,
                      model::DatabaseNumber database, storage::Store* store) {
  uint32_t next = 1;
  const auto stored = store->Get(Space::kMeta, documents::kNextIndexKey);
  RETURN_IF_ERROR(stored.status());
  if (*stored) next = *model::DecodeUint32(**stored);
  std::set<index::Definition> known;
  for (const auto& [number, record] : StoredIndexes(*store)) known.insert(record.definition);
  storage::Batch batch;
  for (const index::Definition& definition : definitions) {
    if (!known.insert(definition).second) continue;
    const IndexRecord record{database,  index::State::kBuilding, index::Origin::kDeclared, 0, "",
                             definition};
    batch.Put(Space::kMeta, std::string(documents::kIndexKeyPrefix) + model::EncodeUint32(next++),
              index::EncodeIndexRecord(record));
  }
  batch.Put(Space::kMeta, std::string(documents::kNextIndexKey), model::EncodeUint32(next));
  return store->Commit(batch);
}

}  // namespace hearth::queries
