#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pause.h"
#include "base/status.h"

namespace hearth::storage {

// The separate ordered key spaces of a store. Keys sort as unsigned bytes within their space.
enum class Space : uint8_t {
  kMeta,       // Format number, databases, the newest commit time.
  kDocuments,  // The newest state of every document.
  kHistory,    // The values that commits replaced. Stamped: see Store::ExpireBefore.
  kLog,        // Which documents each commit changed. Stamped.
  kIndexes,    // Index entries.
};
inline constexpr size_t kSpaces = 5;

// The keys k with first <= k < last; an empty `last` means no upper bound.
struct KeyRange {
  std::string first;
  std::string last;
};

// The range of all keys that begin with `prefix`.
KeyRange PrefixRange(std::string_view prefix);

enum class Direction { kForward, kBackward };

// Changes that are applied together or not at all. A later change of a key wins over an earlier
// one.
class Batch {
 public:
  struct Change {
    Space space;
    std::string key;
    std::optional<std::string> value;  // Absent: the key is removed.
  };

  void Put(Space space, std::string key, std::string value) {
    changes_.push_back({space, std::move(key), std::move(value)});
  }
  void Delete(Space space, std::string key) {
    changes_.push_back({space, std::move(key), std::nullopt});
  }
  const std::vector<Change>& changes() const { return changes_; }
  bool empty() const { return changes_.empty(); }

 private:
  std::vector<Change> changes_;
};

// A cursor over a KeyRange, initially at the first key in its direction.
//
// Threads: one at a time. Ownership: its snapshot must outlive it; key() and value() stay valid
// until the cursor moves. Errors: a cursor that encounters an error is not Valid and has a
// status().
class Cursor {
 public:
  virtual ~Cursor() = default;

  virtual bool Valid() const = 0;
  // OK at the end of the range; Unavailable or DataLoss if the scan failed.
  virtual Status status() const = 0;
  // Require Valid().
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual void Next() = 0;  // The next key in the cursor's direction.
  // Moves to the first key, in the cursor's direction, that is not before `key`.
  virtual void Seek(std::string_view key) = 0;
};

// An immutable view of all spaces. Threads: safe for concurrent use. Ownership: the store must
// outlive it; a long-lived snapshot keeps replaced data on disk.
class Snapshot {
 public:
  virtual ~Snapshot() = default;

  // The value of `key`; nullopt if there is none.
  virtual Result<std::optional<std::string>> Get(Space space, std::string_view key) const = 0;
  // `pause`, which may be null and must outlive the cursor, is called while the cursor passes over
  // many removed keys. Its error becomes the cursor's.
  virtual std::unique_ptr<Cursor> Scan(Space space, KeyRange range, Direction direction,
                                       const PauseFunction* pause) const = 0;
  std::unique_ptr<Cursor> Scan(Space space, KeyRange range, Direction direction) const {
    return Scan(space, std::move(range), direction, nullptr);
  }
};

// A durable, ordered key-value store with atomic commits: all that Hearth requires of a storage
// engine. It knows nothing about documents.
//
// Threads: safe for concurrent use, except that only one thread at a time may commit.
// Errors: Unavailable for I/O errors (ResourceExhausted if the disk is full), DataLoss for bytes
// that fail their checksum. Absence is not an error, and damage is never reported as absence.
class Store {
 public:
  virtual ~Store() = default;

  // The newest value of `key`; nullopt if there is none.
  virtual Result<std::optional<std::string>> Get(Space space, std::string_view key) const = 0;

  // Like Get, but never waits for the disk: nullopt if the answer is not in memory.
  virtual std::optional<Result<std::optional<std::string>>> GetIfInMemory(
      Space space, std::string_view key) const = 0;

  virtual std::unique_ptr<Snapshot> NewSnapshot() const = 0;

  // Applies all of `batch` or none of it. If it returns OK, the batch is on disk and visible to
  // every later read. If it fails, no read sees any of the batch, not even after a restart. After a
  // failed commit the store heals itself or refuses further commits; it never loses an acknowledged
  // commit. Must be called by one thread at a time, which is checked.
  Status Commit(const Batch& batch);

  // The approximate size in bytes of the keys in `range` and their values. Cheap and rough.
  virtual uint64_t ApproximateBytes(Space space, const KeyRange& range) const = 0;

  // ResourceExhausted if the disk is nearly full: then only commits that remove data should be
  // made, from the space that is reserved for them. Cheap enough to ask before every commit.
  virtual Status CheckRoomToGrow() const { return Status(); }

  // From now on errors go to clients, so they no longer name the server's files; the log does.
  virtual void BeginService() {}

  // From now on, keys of the stamped spaces (kHistory, kLog) whose last eight bytes, read as a
  // big-endian number, are below `stamp` are no longer needed. They are removed at some later time,
  // also from snapshots, at no cost to commits. The horizon never goes back.
  virtual void ExpireBefore(uint64_t stamp) = 0;

 private:
  virtual Status DoCommit(const Batch& batch) = 0;

  std::atomic<bool> is_committing_ = false;
};

}  // namespace hearth::storage
