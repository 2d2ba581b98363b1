#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/feed/cache/feed_cache.h"
#include "apps/feed/core/fan_out.h"
#include "apps/feed/core/followed_posts.h"
#include "apps/feed/core/home_feed.h"
#include "apps/feed/queue/feed_queue.h"
#include "apps/feed/stores/collections.h"
#include "apps/feed/stores/comment_store.h"
#include "apps/feed/stores/follow_store.h"
#include "apps/feed/stores/post_store.h"
#include "apps/feed/stores/user_store.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"

namespace hearth::feed {

// Accounts, posts, comments and feeds, without a web server. The endpoints, the demonstration, the
// tests and the benchmarks all use the feed through this class.
//
// Changes to posts and follows are methods of this class and not of a store that it hands out,
// because some of them must be followed by an event: events bring a change into the caches of other
// users. Stores that publish no events are handed out as they are.
//
// Threads: safe for concurrent use; the fan-out has its own threads between Start and Stop.
// Ownership: owns cache and queue; borrows the clock, the random source and the metrics.
class FeedCore {
 public:
  struct Parts {
    const Clock& clock;
    RandomSource& random;
    Metrics& metrics;
    Collections collections;
    std::unique_ptr<FeedCache> cache;
    std::unique_ptr<FeedQueue> queue;
  };

  FeedCore(Parts parts, FanOutOptions options);

  UserStore& users() { return users_; }
  CommentStore& comments() { return comments_; }
  const FollowStore& follows() const { return follows_; }
  const PostStore& posts() const { return posts_; }
  FollowedPosts& followed_posts() { return followed_posts_; }
  FeedCache& cache() { return *cache_; }
  FeedQueue& queue() { return *queue_; }
  FanOut& fan_out() { return fan_out_; }

  // A page of the home feed: the posts of the accounts that `user` follows, strictly before
  // `before`, or the newest. At most HomeFeed::kPageSize.
  Result<PostPage> ReadHome(UserId user, const std::optional<PostKey>& before) {
    return home_.Read(user, before);
  }

  // Changes of posts and follows. Errors are those of the stores; a failure to publish the event
  // is not an error.
  Result<Post> CreatePost(const User& author, const std::string& caption,
                          const std::vector<Media>& media,
                          std::optional<int64_t> created_seconds = std::nullopt);
  Result<Post> EditCaption(PostId post_id, UserId user_id, const std::string& caption) {
    return posts_.EditCaption(post_id, user_id, caption);
  }
  Status DeletePost(PostId post_id, UserId user_id);
  Status Like(PostId post_id, UserId user_id) { return posts_.Like(post_id, user_id); }
  Status Unlike(PostId post_id, UserId user_id) { return posts_.Unlike(post_id, user_id); }
  Status Follow(UserId user, UserId followed);
  Status Unfollow(UserId user, UserId followed);

  // The state of database, cache, queue and fan-out, as /health reports it.
  nlohmann::json Health();

 private:
  // Call after the commit. An event that cannot be published is counted; the repair, or the next
  // reader, makes up for it.
  void Publish(const FeedEvent& event);

  const std::unique_ptr<FeedCache> cache_;
  const std::unique_ptr<FeedQueue> queue_;
  UserStore users_;
  FollowStore follows_;
  PostStore posts_;
  CommentStore comments_;
  FollowedPosts followed_posts_;
  HomeFeed home_;
  FanOut fan_out_;
  Counter& unpublished_events_;
};

}  // namespace hearth::feed
