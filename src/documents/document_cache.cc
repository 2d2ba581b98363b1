#include "documents/document_cache.h"

#include <functional>
#include <utility>

namespace hearth::documents {
namespace {

// The memory for the list node, the hash entry and the two control blocks, in addition to the data.
constexpr size_t kEntryOverheadBytes = 160;

}  // namespace

DocumentCache::DocumentCache(size_t bytes_max) : shard_bytes_max_(bytes_max / kShards) {}

DocumentCache::Shard& DocumentCache::ShardOf(const HashedKey& key) {
  return shards_[key.hash % kShards];
}

size_t DocumentCache::EntryBytes(const Entry& entry) {
  return entry.key.capacity() + entry.record->capacity() + kEntryOverheadBytes;
}

void DocumentCache::Erase(Shard& shard, std::list<Entry>::iterator entry) {
  shard.bytes -= EntryBytes(*entry);
  shard.by_key.erase(HashedKey(entry->key));
  shard.by_use.erase(entry);
}

model::Record DocumentCache::Find(std::string_view document_key) {
  const HashedKey key(document_key);
  Shard& shard = ShardOf(key);
  MutexLock lock(shard.mutex);
  const auto found = shard.by_key.find(key);
  if (found == shard.by_key.end()) return nullptr;
  shard.by_use.splice(shard.by_use.begin(), shard.by_use, found->second);
  return found->second->record;
}

DocumentCache::Ticket DocumentCache::BeginFill(std::string_view document_key) {
  Shard& shard = ShardOf(HashedKey(document_key));
  MutexLock lock(shard.mutex);
  return Ticket{shard.updates};
}

void DocumentCache::Insert(std::string_view document_key, model::Record record, Ticket ticket) {
  const HashedKey key(document_key);
  Shard& shard = ShardOf(key);
  MutexLock lock(shard.mutex);
  const bool is_stale = Ticket{shard.updates} != ticket;
  if (is_stale || !record || shard.by_key.contains(key)) return;
  Entry entry{std::string(document_key), std::move(record)};
  if (EntryBytes(entry) > shard_bytes_max_) return;  // It would only evict everything else.
  shard.by_use.push_front(std::move(entry));
  shard.by_key.emplace(HashedKey(shard.by_use.front().key), shard.by_use.begin());
  shard.bytes += EntryBytes(shard.by_use.front());
  while (shard.bytes > shard_bytes_max_) Erase(shard, std::prev(shard.by_use.end()));
}

void DocumentCache::Update(std::string_view document_key, model::Record record) {
  const HashedKey key(document_key);
  Shard& shard = ShardOf(key);
  MutexLock lock(shard.mutex);
  ++shard.updates;
  const auto found = shard.by_key.find(key);
  if (found == shard.by_key.end()) return;
  const std::list<Entry>::iterator entry = found->second;
  if (!record) return Erase(shard, entry);
  shard.bytes -= EntryBytes(*entry);
  entry->record = std::move(record);
  shard.bytes += EntryBytes(*entry);
  if (EntryBytes(*entry) > shard_bytes_max_) return Erase(shard, entry);
  while (shard.bytes > shard_bytes_max_) Erase(shard, std::prev(shard.by_use.end()));
}

}  // namespace hearth::documents
