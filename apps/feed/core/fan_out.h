#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "apps/feed/cache/feed_cache.h"
#include "apps/feed/core/followed_posts.h"
#include "apps/feed/queue/feed_queue.h"
#include "apps/feed/stores/follow_store.h"
#include "apps/feed/stores/post_store.h"
#include "apps/feed/stores/user_store.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/status.h"

namespace hearth::feed {

struct FanOutOptions {
  // Posts of authors with more followers than this are pulled by readers.
  int64_t pushed_followers_max = 10'000;
  size_t threads = 2;
  std::chrono::milliseconds repair_period = std::chrono::seconds(10);
  // Younger posts are left to the queue.
  std::chrono::seconds repair_age{10};
};

// Processes the queue's events: adds posts to the caches of followers, and removes them.
//
// All operations are idempotent, and failures lose nothing for good: readers find in the database
// what the caches lack, and a repair pushes the posts whose events were lost. Post ids have no
// gaps, so the repair knows which posts are missing.
//
// Threads: RunOnce and Repair from any number of threads; Start and Stop once each. Ownership:
// borrows the constructor's arguments.
class FanOut {
 public:
  struct Parts {
    const Clock& clock;
    FeedCache& cache;
    FeedQueue& queue;
    const UserStore& users;
    FollowStore& follows;
    const PostStore& posts;
    FollowedPosts& followed_posts;
    Metrics& metrics;
  };
  static constexpr size_t kRepairedPerRun = 500;
  // How long a thread waits for events before it checks whether to stop.
  static constexpr std::chrono::milliseconds kPatience{1'000};
  // After an error of the queue.
  static constexpr std::chrono::milliseconds kPause{500};

  FanOut(FanOutOptions options, Parts parts);
  ~FanOut();

  void Start();
  void Stop() EXCLUDES_LOCK(mutex_);

  // Processes one batch of events and returns their number. Unavailable if the queue is.
  Result<size_t> RunOnce(std::chrono::milliseconds patience);
  // Pushes posts older than `repair_age` that have not been pushed; returns their number.
  Result<size_t> Repair();

 private:
  void Work() EXCLUDES_LOCK(mutex_);
  void RepairNowAndThen() EXCLUDES_LOCK(mutex_);
  // False: stop now.
  bool Sleep(std::chrono::milliseconds time) EXCLUDES_LOCK(mutex_);

  using KeepAlive = std::function<void()>;
  Status Process(const FeedEvent& event, const KeepAlive& keep_alive);
  Status Push(UserId author, PostKey post, const KeepAlive& keep_alive);
  Status Remove(UserId author, PostKey post, const KeepAlive& keep_alive);
  Status ChangeFollowing(const FeedEvent& event);
  // Whether readers pull the author's posts. Makes the decision if it is due.
  Result<bool> IsPulled(UserId author);

  const FanOutOptions options_;
  const Parts parts_;
  Counter& events_done_;
  Counter& events_failed_;
  Counter& repaired_posts_;
  Gauge& lag_;
  Mutex mutex_;  // Leaf lock.
  CondVar stop_requested_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace hearth::feed
