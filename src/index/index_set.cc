#include "index/index_set.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/status_macros.h"

namespace hearth::index {
namespace {

// The id of the collection that a document is in.
std::string_view CollectionIdOf(const model::DocumentPath& path) {
  const std::string_view collection = path.collection();
  const size_t slash = collection.rfind('/');
  return slash == std::string_view::npos ? collection : collection.substr(slash + 1);
}

void Append(const Index& index, std::string key, std::optional<std::string> value,
            EntryChanges* changes) {
  changes->bytes += sizeof(EntryChange) + key.size() + (value ? value->size() : 0);
  changes->changes.push_back(
      {std::move(key), std::move(value), index.definition.vector.has_value()});
}

// Appends the changes that turn the entries `before` into `after`, both sorted by key. While the
// index is being built it is unknown which of the old entries exist, so all new ones are written.
// Returns the number of written entries.
size_t AppendDifference(const Index& index, std::vector<Entry> before, std::vector<Entry> after,
                        EntryChanges* changes) {
  size_t written = 0;
  auto old_entry = before.begin();
  for (Entry& entry : after) {
    for (; old_entry != before.end() && old_entry->key < entry.key; ++old_entry) {
      Append(index, std::move(old_entry->key), std::nullopt, changes);
    }
    const bool is_there = old_entry != before.end() && old_entry->key == entry.key;
    if (!is_there || old_entry->value != entry.value || index.state == State::kBuilding) {
      Append(index, std::move(entry.key), std::move(entry.value), changes);
      ++written;
    }
    if (is_there) ++old_entry;
  }
  for (; old_entry != before.end(); ++old_entry) {
    Append(index, std::move(old_entry->key), std::nullopt, changes);
  }
  return written;
}

}  // namespace

IndexSet::IndexSet(const std::vector<Index>& indexes) {
  std::map<model::DatabaseNumber, std::vector<Index>> by_database;
  for (const Index& index : indexes) by_database[index.database].push_back(index);
  for (auto& [database, own] : by_database) *this = WithAll(database, std::move(own));
}

const IndexSet::DatabaseIndexes* IndexSet::Find(model::DatabaseNumber database) const {
  const auto number = static_cast<uint32_t>(database);
  const std::shared_ptr<const Shard>& shard = shards_[number % kShards];
  if (!shard) return nullptr;
  const auto found = shard->find(number);
  return found == shard->end() ? nullptr : found->second.get();
}

IndexSet IndexSet::WithAll(model::DatabaseNumber database, std::vector<Index> indexes) const {
  const auto number = static_cast<uint32_t>(database);
  IndexSet set = *this;
  std::shared_ptr<const Shard>& place = set.shards_[number % kShards];
  auto shard = place ? std::make_shared<Shard>(*place) : std::make_shared<Shard>();
  if (indexes.empty()) {
    shard->erase(number);
  } else {
    auto own = std::make_shared<DatabaseIndexes>();
    own->all = std::move(indexes);
    for (const Index& index : own->all) {
      own->by_group[index.definition.collection_id].push_back(index);
    }
    (*shard)[number] = std::move(own);
  }
  place = std::move(shard);
  return set;
}

IndexSet IndexSet::With(const Index& index) const {
  std::vector<Index> own = OfDatabase(index.database);
  std::erase_if(own, [&](const Index& each) { return each.number == index.number; });
  own.push_back(index);
  return WithAll(index.database, std::move(own));
}

IndexSet IndexSet::Without(const Index& index) const {
  std::vector<Index> own = OfDatabase(index.database);
  std::erase_if(own, [&](const Index& each) { return each.number == index.number; });
  return WithAll(index.database, std::move(own));
}

std::vector<const Index*> IndexSet::all() const {
  std::vector<const Index*> all;
  for (const std::shared_ptr<const Shard>& shard : shards_) {
    if (!shard) continue;
    for (const auto& [database, own] : *shard) {
      for (const Index& index : own->all) all.push_back(&index);
    }
  }
  return all;
}

const std::vector<Index>& IndexSet::OfDatabase(model::DatabaseNumber database) const {
  static const std::vector<Index> kNone;
  const DatabaseIndexes* own = Find(database);
  return own ? own->all : kNone;
}

const std::vector<Index>& IndexSet::Of(model::DatabaseNumber database,
                                       std::string_view collection_id) const {
  static const std::vector<Index> kNone;
  const DatabaseIndexes* own = Find(database);
  if (!own) return kNone;
  const auto found = own->by_group.find(std::string(collection_id));
  return found == own->by_group.end() ? kNone : found->second;
}

Status IndexSet::AppendChanges(model::DatabaseNumber database, const model::DocumentPath& path,
                               const std::string_view* before, const std::string_view* after,
                               EntryChanges* changes) const {
  for (const Index& index : Of(database, CollectionIdOf(path))) {
    index.activity->document_writes.fetch_add(1, std::memory_order_relaxed);
    if (before && after && index.state == State::kReady &&
        HasSameValues(index.definition, *before, *after)) {
      continue;
    }
    const auto entries_of = [&](const std::string_view* fields) -> Result<std::vector<Entry>> {
      if (!fields) return std::vector<Entry>();
      Result<std::vector<Entry>> entries = EntriesOf(index.number, index.definition, path, *fields);
      if (entries.ok()) changes->computed += entries->size();
      if (entries.status().code() == Code::kInvalidArgument) changes->too_large = &index;
      return entries;
    };
    // Stored documents were within the limits when they were indexed.
    ASSIGN_OR_RETURN(std::vector<Entry> old_entries, entries_of(before));
    ASSIGN_OR_RETURN(std::vector<Entry> new_entries, entries_of(after));
    const size_t written =
        AppendDifference(index, std::move(old_entries), std::move(new_entries), changes);
    index.activity->entries_written.fetch_add(written, std::memory_order_relaxed);
  }
  return Status();
}

void IndexSet::NoteTouched(model::DatabaseNumber database, const model::DocumentPath& path,
                           const std::string& document_key) const {
  for (const Index& index : Of(database, CollectionIdOf(path))) {
    if (index.state == State::kBuilding) index.activity->touched.insert(document_key);
  }
}

}  // namespace hearth::index
