#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/feed/collections.h"
#include "apps/feed/fan_out.h"
#include "apps/feed/feed_cache.h"
#include "apps/feed/feed_queue.h"
#include "apps/feed/follow_store.h"
#include "apps/feed/followed_posts.h"
#include "apps/feed/home_feed.h"
#include "apps/feed/post_store.h"
#include "apps/feed/user_store.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"

namespace hearth::feed {

// Accounts, posts and feeds, without a web server: what the endpoints, the demonstration, the tests
// and the benchmarks work with.
//
// What it changes reaches the caches of others by events. Threads: safe for concurrent use; the
// fan-out has threads of its own between Start and Stop. Ownership: owns cache and queue; borrows
// clock, randomness and metrics.
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
  FollowStore& follows() { return follows_; }
  PostStore& posts() { return posts_; }
  FollowedPosts& followed_posts() { return followed_posts_; }
  FeedCache& cache() { return *cache_; }
  FeedQueue& queue() { return *queue_; }
  HomeFeed& home() { return home_; }
  FanOut& fan_out() { return fan_out_; }

  // After the change is committed. What cannot be published is counted and left to the repair, or
  // to readers who notice.
  void Publish(const FeedEvent& event);

  // The changes that others' caches hear of, with their events.
  Result<Post> CreatePost(const User& author, const std::string& caption,
                          const std::vector<Media>& media,
                          std::optional<int64_t> created_seconds = std::nullopt);
  Status DeletePost(int64_t post_id, int64_t user_id);
  Status Follow(int64_t user, int64_t followed);
  Status Unfollow(int64_t user, int64_t followed);

  // How cache and queue are doing, for people and their tools.
  nlohmann::json Health();

 private:
  const std::unique_ptr<FeedCache> cache_;
  const std::unique_ptr<FeedQueue> queue_;
  UserStore users_;
  FollowStore follows_;
  PostStore posts_;
  FollowedPosts followed_posts_;
  HomeFeed home_;
  FanOut fan_out_;
  Counter& unpublished_events_;
};

}  // namespace hearth::feed
