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

// Which stories somebody does not want to see any more.
//
// Each is a document of its own, because a list of them outgrows one: somebody had 117,000. To read
// that many for each request would be slow, so the ids of recent users are kept in memory, and only
// what others have added since is read. What another process takes out again is seen after
// kReadAgainAfter.
//
// Threads: safe for concurrent use. Ownership: borrows the clock. Errors: those of the database;
// for a name that can be no document's, InvalidArgument.
class HiddenStories {
 public:
  static constexpr std::chrono::milliseconds kReadAgainAfter = std::chrono::hours(1);
  // The clocks of processes that hide for the same user may differ by so much.
  static constexpr std::chrono::milliseconds kClockSkewMax = std::chrono::minutes(1);
  static constexpr size_t kRememberedIdsMax = 5'000'000;  // Of all users together.

  using Ids = std::vector<int64_t>;  // Ascending.

  HiddenStories(const Clock& clock, Collections collections)
      : clock_(clock), collections_(std::move(collections)) {}

  // When this returns success, the story stays hidden, whatever happens. Hiding twice is once.
  Status Hide(const std::string& username, int64_t story_id) EXCLUDES_LOCK(mutex_);
  Status Unhide(const std::string& username, int64_t story_id) EXCLUDES_LOCK(mutex_);
  Result<std::shared_ptr<const Ids>> Get(const std::string& username) EXCLUDES_LOCK(mutex_);

 private:
  // What is remembered of one user.
  struct User {
    std::shared_ptr<const Ids> ids;  // Shared with requests; never changed, only replaced.
    int64_t read_at_ms = 0;          // All of them.
    int64_t checked_at_ms = 0;       // For new ones.
    std::list<std::string>::iterator recency;
  };

  int64_t NowMs() const { return clock_.WallMicros() / 1'000; }
  client::DocumentReference Doc(const std::string& username, int64_t story_id) const {
    return collections_.hidden(username).Doc(std::to_string(story_id));
  }
  // The ids of the documents added at or after `since_ms`, or of all.
  Result<Ids> Read(const std::string& username, std::optional<int64_t> since_ms) const;
  std::optional<User> Recall(const std::string& username) EXCLUDES_LOCK(mutex_);
  // Takes note of a change that is in the database, if the user is remembered.
  void Note(const std::string& username, const std::function<void(Ids&)>& change)
      EXCLUDES_LOCK(mutex_);
  uint64_t changes() const EXCLUDES_LOCK(mutex_);
  // Not when there were changes since `changes_seen`: they may be missing in `ids`.
  void Remember(const std::string& username, User user, uint64_t changes_seen)
      EXCLUDES_LOCK(mutex_);

  const Clock& clock_;
  const Collections collections_;
  mutable Mutex mutex_;  // Leaf lock.
  std::unordered_map<std::string, User> users_ GUARDED_BY(mutex_);
  std::list<std::string> recency_ GUARDED_BY(mutex_);  // Of users, the latest first.
  size_t remembered_ids_ GUARDED_BY(mutex_) = 0;
  uint64_t changes_ GUARDED_BY(mutex_) = 0;  // Of all users: counted, so that none is overlooked.
};

}  // namespace hearth::hackernews
