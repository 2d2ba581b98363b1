#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "apps/feed/cache/feed_cache.h"
#include "apps/feed/core/followed_posts.h"
#include "apps/feed/core/single_flight.h"
#include "apps/feed/stores/follow_store.h"
#include "apps/feed/stores/post_store.h"
#include "base/metrics.h"
#include "base/status.h"

namespace hearth::feed {

// The mark of the cache, begun if there is none.
Result<FeedCache::Mark> EnsureMark(FeedCache& cache, const PostStore& posts);

// The home feed: pages of the posts by those whom somebody follows.
//
// Every page is what the database would say; the cache only saves asking it about all accounts. To
// what the cache has, a page adds the posts that have not been pushed yet (those above the mark)
// and those of authors whose posts are never pushed; below the cache's oldest entry, the database
// goes on. A cache that is not there, or made for another list of accounts, is made anew; one
// that cannot be reached is done without.
//
// Threads: safe for concurrent use. Ownership: borrows all that it is made of. Errors: the
// database's; never the cache's.
class HomeFeed {
 public:
  static constexpr size_t kPageSize = 10;
  // Requests that wait while another one makes their user's cache; the next ones ask the database.
  // Fewer than an application has threads: a slow warm-up must not occupy them all.
  static constexpr size_t kWarmingWaitersMax = 4;
  // With more posts than this still to be pushed, the database is asked instead.
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
  // How a page came about, as the metric names it.
  struct Answer {
    std::vector<Post> posts;  // One more than a page, where there are.
    const char* path;
  };

  Result<Answer> Ask(const Question& question, const Result<FeedCache::Mark>& mark);
  Result<Answer> AskDatabase(const Question& question, const char* path);
  // Without a cache that can be used: makes it, or waits for the request that does.
  Result<Answer> AskUnwarmed(const Question& question, const FeedCache::Mark& mark);
  Result<Answer> AskCold(const Question& question, const FeedCache::Mark& mark);
  Result<std::optional<FeedCache::Slice>> ReadUsable(const Question& question,
                                                     const FeedCache::Mark& mark);
  Result<Answer> AskCache(const Question& question, const FeedCache::Mark& mark,
                          FeedCache::Slice slice);

  // What the cache does not have above its oldest entry; nullopt: too much.
  Result<std::optional<std::vector<Post>>> FindUncached(const Question& question,
                                                        const FeedCache::Mark& mark);
  Result<std::vector<Post>> Hydrate(const Question& question,
                                    const std::vector<PostKey>& keys) const;

  FeedCache& cache_;
  const FollowStore& follows_;
  const PostStore& posts_;
  FollowedPosts& followed_posts_;
  Metrics& metrics_;
  SingleFlight warming_{kWarmingWaitersMax};  // By user.
};

}  // namespace hearth::feed
