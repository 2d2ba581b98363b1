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

// For many users, the newest posts of those whom they follow. An optimisation: the database is the
// truth, and a reader who finds no cache, or cannot reach it, asks there.
//
// What makes it safe to read is a promise about each cache: from its oldest entry on it has every
// post that was pushed, by those who are followed in the version of the list that it names, and
// whose id is not above the mark. It may have posts that should not be there (deleted ones, those
// of people no longer followed): readers leave them out. It never lacks one. Whatever cannot keep
// the promise drops the cache.
//
// Threads: safe for concurrent use. Errors: Unavailable where the cache cannot be reached; nothing
// is known then about what was to be changed, and trying again is safe: every change may be made
// twice.
class FeedCache {
 public:
  static constexpr size_t kPostsMax = 500;
  static constexpr std::chrono::seconds kLifetime = std::chrono::days(7);
  // A cache that somebody began to make and did not finish is forgotten after this.
  static constexpr std::chrono::seconds kWarmingMax{30};

  virtual ~FeedCache() = default;

  // Where the caches are, as /health reports it: "memory" or "redis".
  virtual std::string_view kind() const = 0;

  // How far posts have been pushed: every post up to this one has been. Caches belong to the epoch
  // of the mark that they were made under; a mark that was lost begins a new epoch, and the caches
  // of the one before count no more.
  struct Mark {
    PostKey newest;
    std::string epoch;
  };
  // nullopt: there is none yet, or it was lost.
  virtual Result<std::optional<Mark>> ReadMark() = 0;
  // Begins an epoch, unless there is one. `newest`: the newest post of the database, or {}.
  virtual Status StartEpoch(PostKey newest) = 0;
  // Tells that a post has been pushed to all. The mark moves when those before it have been, too.
  // Aborted when the epoch is another now: then the post has to be pushed again.
  virtual Status MarkPushed(const std::string& epoch, PostKey post) = 0;

  struct Slice {
    int64_t following_version;   // Of the list of accounts that the cache was made for.
    std::vector<PostKey> posts;  // Newest first.
    bool has_ended;              // The cache has none after these.
  };
  // At most `limit` posts, all strictly before `before`, or the newest. nullopt: there is no cache
  // (or one being made, or one of another epoch, or one that somebody has tampered with). Renews
  // its lifetime; nothing else does.
  virtual Result<std::optional<Slice>> Read(const std::string& epoch, UserId user,
                                            const std::optional<PostKey>& before, size_t limit) = 0;

  // Making a cache: begin, then read the database, then finish with what it says. What is pushed
  // in between is kept. Who begins last wins; Finish of anybody else is Aborted. Replaces a cache
  // that there is.
  virtual Result<std::string> BeginWarming(const std::string& epoch, UserId user) = 0;
  // `posts`: the newest of all, newest first, at most kPostsMax. None of them: no cache is made.
  virtual Status FinishWarming(UserId user, const std::string& ticket, int64_t following_version,
                               const std::vector<PostKey>& posts) = 0;

  // To the caches that exist, unless the post is older than their oldest entry.
  virtual Status Push(const std::string& epoch, const std::vector<UserId>& users, PostKey post) = 0;
  virtual Status Remove(const std::vector<UserId>& users, PostId post_id) = 0;

  // The oldest entry; nullopt where there is no cache.
  virtual Result<std::optional<PostKey>> Oldest(UserId user) = 0;
  // Somebody followed or unfollowed an account, which made their list's version `version`.
  // `added`: all posts of the new account that are not older than `since`, which Oldest said, or
  // the newest kPostsMax of them. Applies to a cache of the version before; one that is up to date
  // already stays as it is; one that is older than that, or that reaches further back than `since`,
  // is dropped.
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
