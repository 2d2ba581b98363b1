#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apps/feed/cache/feed_cache.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"

namespace hearth::feed {

// Caches in this process's memory. For a single process, since others do not see what it pushes. At
// most `entries_max` entries over all users; the least recently read caches are evicted first.
//
// Threads: safe for concurrent use. Ownership: borrows the clock and the random source. Errors:
// Unavailable if more than kAheadMax posts wait for an earlier one to be pushed.
class MemoryFeedCache final : public FeedCache {
 public:
  static constexpr size_t kEntriesMax = 2'000'000;  // About 32 MB.
  static constexpr size_t kAheadMax = 10'000;

  MemoryFeedCache(const Clock& clock, RandomSource& random, size_t entries_max = kEntriesMax)
      : clock_(clock), random_(random), entries_max_(entries_max) {}

  std::string_view kind() const override { return "memory"; }
  Result<std::optional<Mark>> ReadMark() override EXCLUDES_LOCK(mutex_);
  Status StartEpoch(PostKey newest) override EXCLUDES_LOCK(mutex_);
  Status MarkPushed(const std::string& epoch, PostKey post) override EXCLUDES_LOCK(mutex_);
  Result<std::optional<Slice>> Read(const std::string& epoch, UserId user,
                                    const std::optional<PostKey>& before, size_t limit) override
      EXCLUDES_LOCK(mutex_);
  Result<std::string> BeginWarming(const std::string& epoch, UserId user) override
      EXCLUDES_LOCK(mutex_);
  Status FinishWarming(UserId user, const std::string& ticket, int64_t following_version,
                       const std::vector<PostKey>& posts) override EXCLUDES_LOCK(mutex_);
  Status Push(const std::string& epoch, const std::vector<UserId>& users, PostKey post) override
      EXCLUDES_LOCK(mutex_);
  Status Remove(const std::vector<UserId>& users, PostId post_id) override EXCLUDES_LOCK(mutex_);
  Result<std::optional<PostKey>> Oldest(UserId user) override EXCLUDES_LOCK(mutex_);
  Status ApplyFollowing(UserId user, const FollowingChange& change) override EXCLUDES_LOCK(mutex_);
  Status Drop(UserId user) override EXCLUDES_LOCK(mutex_);

 private:
  struct Cache {
    std::string epoch;
    std::string ticket;
    bool is_warming = true;
    int64_t following_version = 0;
    std::vector<PostKey> posts;  // Oldest first. Never empty, unless warming.
    std::chrono::steady_clock::time_point expires;
    std::list<UserId>::iterator place;  // In by_read_.
  };

  // nullptr: not found. Drops an expired one.
  Cache* FindLocked(UserId user) REQUIRES_LOCK(mutex_);
  // Inserts a post in order. TrimLocked enforces the bound.
  void InsertLocked(Cache& cache, PostKey post) REQUIRES_LOCK(mutex_);
  void EraseLocked(Cache& cache, PostId post_id) REQUIRES_LOCK(mutex_);
  void TrimLocked(Cache& cache) REQUIRES_LOCK(mutex_);
  void TouchLocked(Cache& cache) REQUIRES_LOCK(mutex_);
  void DropLocked(UserId user) REQUIRES_LOCK(mutex_);
  void MakeRoomLocked() REQUIRES_LOCK(mutex_);

  const Clock& clock_;
  RandomSource& random_;
  const size_t entries_max_;

  Mutex mutex_;  // Held while locking the random source, and nothing else.
  std::optional<Mark> mark_ GUARDED_BY(mutex_);
  std::map<PostId, int64_t> ahead_ GUARDED_BY(mutex_);  // Pushed above the mark: id, seconds.
  std::unordered_map<UserId, Cache> caches_ GUARDED_BY(mutex_);
  std::list<UserId> by_read_ GUARDED_BY(mutex_);  // Users, most recently read first.
  size_t entries_ GUARDED_BY(mutex_) = 0;         // All posts, plus one per cache.
};

}  // namespace hearth::feed
