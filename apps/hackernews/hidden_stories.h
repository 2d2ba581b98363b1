#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apps/hackernews/collections.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"

namespace hearth::hackernews {

// The stories that users have hidden.
// || Each is its own document, because a list would outgrow one: a user had 117,000. Reading that
// many per request would be slow, so the ids of recent users are kept in memory, and only later
// additions are read. Removals by another process are seen after kReadAgainAfter.
//
// Threads: safe for concurrent use. Ownership: borrows the clock. Errors: those of the database;
// InvalidArgument for a name that cannot be a document id.
class HiddenStories {
 public:
  static constexpr std::chrono::milliseconds kReadAgainAfter = std::chrono::hours(1);
  // Bound on the clock skew of processes that hide stories for the same user.
  static constexpr std::chrono::milliseconds kClockSkewMax = std::chrono::minutes(1);
  static constexpr size_t kRememberedIdsMax = 5'000'000;  // Over all users.

  using Ids = std::vector<int64_t>;  // Ascending.

  HiddenStories(const Clock& clock, Collections collections)
      : clock_(clock), collections_(std::move(collections)) {}

  // Once this returns success, the story stays hidden. Idempotent.
  Status Hide(const std::string& username, int64_t story_id) EXCLUDES_LOCK(mutex_);
  Status Unhide(const std::string& username, int64_t story_id) EXCLUDES_LOCK(mutex_);
  Result<std::shared_ptr<const Ids>> Get(const std::string& username) EXCLUDES_LOCK(mutex_);

 private:
  // The cached state of one user.
  struct User {
    std::shared_ptr<const Ids> ids;  // Shared with requests; never changed, only replaced.
    int64_t read_at_ms = 0;          // When all were read.
    int64_t checked_at_ms = 0;       // When new ones were read.
    std::list<std::string>::iterator recency;
  };

  int64_t NowMs() const { return clock_.WallMicros() / 1'000; }
  client::DocumentReference Doc(const std::string& username, int64_t story_id) const {
    return collections_.hidden(username).Doc(std::to_string(story_id));
  }
  // The ids of the documents added at or after `since_ms`, or of all.
  Result<Ids> Read(const std::string& username, std::optional<int64_t> since_ms) const;
  std::optional<User> Recall(const std::string& username) EXCLUDES_LOCK(mutex_);
  // Applies a committed change, if the user is cached.
  void Note(const std::string& username, const std::function<void(Ids&)>& change)
      EXCLUDES_LOCK(mutex_);
  uint64_t changes() const EXCLUDES_LOCK(mutex_);
  // Not if there were changes since `changes_seen`: they may be missing in `ids`.
  void Remember(const std::string& username, User user, uint64_t changes_seen)
      EXCLUDES_LOCK(mutex_);

  const Clock& clock_;
  const Collections collections_;
  mutable Mutex mutex_;  // Leaf lock.
  std::unordered_map<std::string, User> users_ GUARDED_BY(mutex_);
  std::list<std::string> recency_ GUARDED_BY(mutex_);  // Users, most recent first.
  size_t remembered_ids_ GUARDED_BY(mutex_) = 0;
  uint64_t changes_ GUARDED_BY(mutex_) = 0;  // Over all users, so that none is missed.
};

}  // namespace hearth::hackernews
