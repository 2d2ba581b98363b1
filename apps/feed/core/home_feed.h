#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "apps/feed/cache/feed_cache.h"
#include "apps/feed/core/followed_posts.h"
#include "apps/feed/core/single_flight.h"
#include "apps/feed/stores/follow_store.h"
#include "apps/feed/stores/post_store.h"
#include "base/metrics.h"
#include "base/status.h"

namespace hearth::feed {

// The cache's mark; starts an epoch if there is none.
Result<FeedCache::Mark> EnsureMark(FeedCache& cache, const PostStore& posts);

// The home feed: pages of posts by the accounts that a user follows.
//
// Every page equals the database's answer; the cache only avoids querying all accounts. To the
// cached posts a page adds those that have not been pushed yet (above the mark) and those of
// authors whose posts are never pushed. Below the cache's oldest entry, the database is queried. A
// cache that is missing, or made for another following list, is made again. If the cache cannot be
// reached, pages are read without it.
//
// Threads: safe for concurrent use. Ownership: borrows the constructor's arguments. Errors: the
// database's, never the cache's.
class HomeFeed {
 public:
  static constexpr size_t kPageSize = 10;
  // Requests that may wait while another one makes their user's cache; further ones query the
  // database. Fewer than an application's threads: a slow warm-up must not occupy them all.
  static constexpr size_t kWarmingWaitersMax = 4;
  // With more unpushed posts than this, the database is queried instead.
  static constexpr size_t kUnpushedMax = 200;

  HomeFeed(FeedCache& cache, const FollowStore& follows, const PostStore& posts,
           FollowedPosts& followed_posts, Metrics& metrics);

  // Strictly before `before`, or the newest.
  Result<PostPage> Read(UserId user, const std::optional<PostKey>& before);

 private:
  struct Question {
    UserId user;
    std::optional<PostKey> before;
    FollowStore::Sources sources;
  };
  // How a page was made, as named in the metric.
  struct Answer {
    std::vector<Post> posts;  // One more than a page, if there are.
    const char* path;
  };

  Result<Answer> Ask(const Question& question, const Result<FeedCache::Mark>& mark);
  Result<Answer> AskDatabase(const Question& question, const char* path);
  // Without a usable cache: makes it, or waits for the request that does.
  Result<Answer> AskUnwarmed(const Question& question, const FeedCache::Mark& mark);
  Result<Answer> AskCold(const Question& question, const FeedCache::Mark& mark);
  Result<std::optional<FeedCache::Slice>> ReadUsable(const Question& question,
                                                     const FeedCache::Mark& mark);
  Result<Answer> AskCache(const Question& question, const FeedCache::Mark& mark,
                          FeedCache::Slice slice);

  // The posts above the cache's oldest entry that it lacks; nullopt: too many.
  Result<std::optional<std::vector<Post>>> FindUncached(const Question& question,
                                                        const FeedCache::Mark& mark);
  Result<std::vector<Post>> Hydrate(const Question& question,
                                    const std::vector<PostKey>& keys) const;

  FeedCache& cache_;
  const FollowStore& follows_;
  const PostStore& posts_;
  FollowedPosts& followed_posts_;
  // By Answer::path; immutable after construction.
  std::map<std::string_view, Counter*> pages_;
  SingleFlight warming_{kWarmingWaitersMax};  // By user.
};

}  // namespace hearth::feed
