#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"
#include "model/record.h"

namespace hearth::documents {

// The records of recently read documents, by document key, bounded in bytes.
//
// It never holds a record older than the newest acknowledged commit: the committer calls Update
// after a commit is on disk and before it is acknowledged, and a reader can Insert a record that it
// fetched from the store only if no Update happened in between.
//
// Threads: safe for concurrent use.
class DocumentCache {
 public:
  // Identifies the moment before a read from the store.
  enum class Ticket : uint64_t {};

  explicit DocumentCache(size_t bytes_max);

  // The cached record; null if it is not cached.
  model::Record Find(std::string_view document_key);

  // Call this before reading the record from the store.
  Ticket BeginFill(std::string_view document_key);
  // Ignored if the document's shard of the cache was updated since `ticket`.
  void Insert(std::string_view document_key, model::Record record, Ticket ticket);

  // Sets the document's current record; null if it was deleted.
  void Update(std::string_view document_key, model::Record record);

 private:
  // A document key with its hash, which selects the shard and the position in it.
  struct HashedKey {
    explicit HashedKey(std::string_view key)
        : text(key), hash(std::hash<std::string_view>{}(key)) {}
    friend bool operator==(const HashedKey& left, const HashedKey& right) {
      return left.hash == right.hash && left.text == right.text;
    }

    std::string_view text;
    size_t hash;
  };
  struct KeyHash {
    size_t operator()(const HashedKey& key) const { return key.hash; }
  };
  struct Entry {
    std::string key;
    model::Record record;
  };
  struct Shard {
    Mutex mutex;  // Leaf lock.
    uint64_t updates GUARDED_BY(mutex) = 0;
    size_t bytes GUARDED_BY(mutex) = 0;
    std::list<Entry> by_use GUARDED_BY(mutex);  // Most recently used first.
    std::unordered_map<HashedKey, std::list<Entry>::iterator, KeyHash> by_key GUARDED_BY(mutex);
  };
  static constexpr size_t kShards = 16;

  Shard& ShardOf(const HashedKey& key);
  static size_t EntryBytes(const Entry& entry);
  static void Erase(Shard& shard, std::list<Entry>::iterator entry) REQUIRES_LOCK(shard.mutex);

  const size_t shard_bytes_max_;
  std::array<Shard, kShards> shards_;
};

}  // namespace hearth::documents
