#include "storage/memory_store.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "storage/stamped_key.h"

namespace hearth::storage {
namespace {

// One space at one instant. std::less<> on std::string compares unsigned bytes.
using Keys = std::map<std::string, std::string, std::less<>>;

std::optional<std::string> Find(const Keys& keys, std::string_view key) {
  const auto found = keys.find(key);
  if (found == keys.end()) return std::nullopt;
  return found->second;
}

// A cursor over immutable keys.
class MemoryCursor final : public Cursor {
 public:
  // `keys` is shared with the snapshot and the store; any of the three keeps it alive.
  MemoryCursor(std::shared_ptr<const Keys> keys, KeyRange range, Direction direction)
      : keys_(std::move(keys)), range_(std::move(range)), direction_(direction) {
    if (direction_ == Direction::kForward) {
      Settle(keys_->lower_bound(range_.first));
    } else {
      SettleBefore(range_.last.empty() ? keys_->end() : keys_->lower_bound(range_.last));
    }
  }

  bool Valid() const override { return position_ != keys_->end(); }
  Status status() const override { return Status(); }
  std::string_view key() const override {
    CHECK(Valid());
    return position_->first;
  }
  std::string_view value() const override {
    CHECK(Valid());
    return position_->second;
  }

  void Next() override {
    CHECK(Valid());
    if (direction_ == Direction::kForward) {
      Settle(std::next(position_));
    } else {
      SettleBefore(position_);
    }
  }

  void Seek(std::string_view key) override {
    if (direction_ == Direction::kForward) {
      Settle(keys_->lower_bound(key < range_.first ? std::string_view(range_.first) : key));
    } else if (!range_.last.empty() && key >= range_.last) {
      SettleBefore(keys_->lower_bound(range_.last));
    } else {
      SettleBefore(keys_->upper_bound(key));
    }
  }

 private:
  // Moves to `position` if it is within the range, else to the end.
  void Settle(Keys::const_iterator position) {
    const bool inside = position != keys_->end() && position->first >= range_.first &&
                        (range_.last.empty() || position->first < range_.last);
    position_ = inside ? position : keys_->end();
  }
  void SettleBefore(Keys::const_iterator position) {
    Settle(position == keys_->begin() ? keys_->end() : std::prev(position));
  }

  const std::shared_ptr<const Keys> keys_;
  const KeyRange range_;
  const Direction direction_;
  Keys::const_iterator position_;
};

using Spaces = std::array<std::shared_ptr<Keys>, kSpaces>;

// Keeps the keys as they were: the store copies a shared space before it changes it.
class MemorySnapshot final : public Snapshot {
 public:
  explicit MemorySnapshot(Spaces spaces) : spaces_(std::move(spaces)) {}

  Result<std::optional<std::string>> Get(Space space, std::string_view key) const override {
    return Find(*spaces_[static_cast<size_t>(space)], key);
  }
  std::unique_ptr<Cursor> Scan(Space space, KeyRange range, Direction direction,
                               const PauseFunction*) const override {
    return std::make_unique<MemoryCursor>(spaces_[static_cast<size_t>(space)], std::move(range),
                                          direction);
  }

 private:
  const Spaces spaces_;
};

class MemoryStore final : public Store {
 public:
  MemoryStore() {
    for (std::shared_ptr<Keys>& keys : spaces_) keys = std::make_shared<Keys>();
  }

  Result<std::optional<std::string>> Get(Space space, std::string_view key) const override {
    MutexLock lock(mutex_);
    return Find(*spaces_[static_cast<size_t>(space)], key);
  }
  std::optional<Result<std::optional<std::string>>> GetIfInMemory(
      Space space, std::string_view key) const override {
    return Get(space, key);
  }
  std::unique_ptr<Snapshot> NewSnapshot() const override {
    MutexLock lock(mutex_);
    shared_.fill(true);
    return std::make_unique<MemorySnapshot>(spaces_);
  }

  Status DoCommit(const Batch& batch) override {
    MutexLock lock(mutex_);
    for (const Batch::Change& change : batch.changes()) {
      Keys& keys = Own(change.space);
      if (change.value) {
        keys.insert_or_assign(change.key, *change.value);
      } else {
        keys.erase(change.key);
      }
    }
    for (const Space space : {Space::kHistory, Space::kLog}) {
      if (swept_ == horizon_) break;
      std::erase_if(Own(space), [this](const auto& entry) REQUIRES_LOCK(mutex_) {
        return IsExpired(entry.first, horizon_);
      });
    }
    swept_ = horizon_;
    return Status();
  }

  uint64_t ApproximateBytes(Space space, const KeyRange& range) const override {
    MutexLock lock(mutex_);
    const Keys& keys = *spaces_[static_cast<size_t>(space)];
    uint64_t bytes = 0;
    for (auto key = keys.lower_bound(range.first);
         key != keys.end() && (range.last.empty() || key->first < range.last); ++key) {
      bytes += key->first.size() + key->second.size();
    }
    return bytes;
  }

  void ExpireBefore(uint64_t stamp) override {
    MutexLock lock(mutex_);
    horizon_ = std::max(horizon_, stamp);
  }

 private:
  // The keys of `space`, copied first if a snapshot may share them.
  Keys& Own(Space space) REQUIRES_LOCK(mutex_) {
    const auto index = static_cast<size_t>(space);
    if (shared_[index]) spaces_[index] = std::make_shared<Keys>(*spaces_[index]);
    shared_[index] = false;
    return *spaces_[index];
  }

  mutable Mutex mutex_;               // Leaf lock.
  Spaces spaces_ GUARDED_BY(mutex_);  // Shared with the snapshots and cursors made from them.
  mutable std::array<bool, kSpaces> shared_ GUARDED_BY(mutex_) = {};
  uint64_t horizon_ GUARDED_BY(mutex_) = 0;
  uint64_t swept_ GUARDED_BY(mutex_) = 0;  // The horizon when expired keys were last removed.
};

}  // namespace

std::unique_ptr<Store> NewMemoryStore() { return std::make_unique<MemoryStore>(); }

}  // namespace hearth::storage
