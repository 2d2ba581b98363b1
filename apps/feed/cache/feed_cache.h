#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/feed/ids/post_key.h"
#include "base/status.h"

namespace hearth::feed {

// The newest posts in the home feeds of users. An optimisation: the database is the source of
// truth, and readers query it if there is no cache or it cannot be reached.
//
// Readers rely on this invariant: from its oldest entry on, a cache has every pushed post whose
// author is on the version of the following list that it names, and whose id is not above the mark.
// It may have extra posts (deleted ones, those of accounts no longer followed), which readers
// filter out. It never lacks one. Any operation that cannot keep the invariant drops the cache.
//
// Threads: safe for concurrent use. Errors: Unavailable if the cache cannot be reached. The outcome
// of a change is then unknown, and retrying is safe: changes are idempotent.
class FeedCache {
 public:
  static constexpr size_t kPostsMax = 500;
  static constexpr std::chrono::seconds kLifetime = std::chrono::days(7);
  // An unfinished warm-up is dropped after this.
  static constexpr std::chrono::seconds kWarmingMax{30};

  virtual ~FeedCache() = default;

  // The storage of the caches, as /health reports it: "memory" or "redis".
  virtual std::string_view kind() const = 0;

  // The push progress: every post up to this one has been pushed. A cache belongs to the epoch of
  // the mark under which it was made. A lost mark begins a new epoch, which invalidates the caches
  // of the previous one.
  struct Mark {
    PostKey newest;
    std::string epoch;
  };
  // nullopt: not set yet, or lost.
  virtual Result<std::optional<Mark>> ReadMark() = 0;
  // Begins an epoch, unless there is one. `newest`: the newest post of the database, or {}.
  virtual Status StartEpoch(PostKey newest) = 0;
  // Records that a post has been pushed to all caches. The mark advances once all posts before it
  // have been pushed, too. Aborted if the epoch has changed: then the post has to be pushed again.
  virtual Status MarkPushed(const std::string& epoch, PostKey post) = 0;

  struct Slice {
    int64_t following_version;   // Of the following list for which the cache was made.
    std::vector<PostKey> posts;  // Newest first.
    bool has_ended;              // The cache has no posts after these.
  };
  // At most `limit` posts, all strictly before `before`, or the newest. nullopt: there is no cache,
  // or it is warming, of another epoch, or was tampered with. Renews its lifetime; nothing else
  // does.
  virtual Result<std::optional<Slice>> Read(const std::string& epoch, UserId user,
                                            const std::optional<PostKey>& before, size_t limit) = 0;

  // To make a cache: begin, read the database, then finish with the result. Posts pushed in between
  // are kept. The last BeginWarming wins; FinishWarming of earlier ones is Aborted. Replaces an
  // existing cache.
  virtual Result<std::string> BeginWarming(const std::string& epoch, UserId user) = 0;
  // `posts`: the newest posts, newest first, at most kPostsMax. If empty, no cache is made.
  virtual Status FinishWarming(UserId user, const std::string& ticket, int64_t following_version,
                               const std::vector<PostKey>& posts) = 0;

  // Pushes to existing caches, unless the post is older than their oldest entry.
  virtual Status Push(const std::string& epoch, const std::vector<UserId>& users, PostKey post) = 0;
  virtual Status Remove(const std::vector<UserId>& users, PostId post_id) = 0;

  // The oldest entry; nullopt if there is no cache.
  virtual Result<std::optional<PostKey>> Oldest(UserId user) = 0;
  // A user followed or unfollowed an account, which set the list's version to `version`. `added`:
  // all posts of the new account that are not older than `since` (from Oldest), or the newest
  // kPostsMax of them. Applies to a cache of the previous version. A cache that is already up to
  // date stays unchanged. One that is older, or that reaches further back than `since`, is dropped.
  struct FollowingChange {
    int64_t version;
    std::vector<PostKey> added = {};
    std::vector<PostId> removed = {};  // Ids of posts.
    PostKey since = {};
  };
  virtual Status ApplyFollowing(UserId user, const FollowingChange& change) = 0;
  virtual Status Drop(UserId user) = 0;
};

}  // namespace hearth::feed
