#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/feed/queue/feed_queue.h"
#include "apps/feed/redis/redis_client.h"
#include "base/mutex.h"

namespace hearth::feed {

// Events in the stream "stream:feed", read by the group "feed_workers"; dead letters are in
// "stream:feed:dead". Finished events are deleted, so that the stream holds what waits. After a
// flush the group is made again; what was lost is for the repair of caches to make good.
//
// Threads: safe for concurrent use; at most RedisNode::kWaitingConnectionsMax wait in Take at a
// time. Ownership: borrows the client. Errors: Unavailable wherever Redis cannot serve.
class RedisFeedQueue final : public FeedQueue {
 public:
  // Beyond this many the oldest are lost. Redis keeps some more, for its own convenience.
  static constexpr int64_t kEventsMax = 1'000'000;
  static constexpr int64_t kDeadMax = 10'000;

  explicit RedisFeedQueue(RedisClient& client, std::chrono::milliseconds idle_max = kIdleMax)
      : client_(client), idle_max_(idle_max) {}

  Status Publish(const FeedEvent& event) override;
  Result<std::vector<Delivery>> Take(std::chrono::milliseconds patience) override;
  Status KeepAlive(const Delivery& delivery) override;
  Status Finish(const Delivery& delivery) override;
  Status Fail(const Delivery& delivery, const Status& reason) override;
  Result<Depth> Measure() override;
  void Stop() override { is_stopped_ = true; }

 private:
  // An entry of the stream; `fields` as they are there.
  struct Entry {
    std::string id;
    std::vector<std::string> fields;
    int tries = 1;
  };

  // Runs a command that needs the group, and makes the group where there is none.
  Result<RedisReply> RunWithGroup(const RedisCommand& command,
                                  std::chrono::milliseconds patience = {});
  // Those that somebody took and did not finish.
  Result<std::vector<Entry>> Reclaim() EXCLUDES_LOCK(mutex_);
  Status CountTries(std::vector<Entry>* entries);
  // New ones. Waits for `wait` where there are none; 0: does not.
  Result<std::vector<Entry>> ReadNew(size_t limit, std::chrono::milliseconds wait);
  // Those that are to be delivered; the others become dead letters.
  Result<std::vector<Delivery>> Accept(const std::vector<Entry>& entries);
  Status Bury(const std::string& id, const std::vector<std::string>& fields,
              const std::string& reason);
  Status Delete(const std::string& id);

  RedisClient& client_;
  const std::chrono::milliseconds idle_max_;
  std::atomic<bool> is_stopped_ = false;
  Mutex mutex_;                                          // Leaf lock.
  std::string reclaim_from_ GUARDED_BY(mutex_) = "0-0";  // Where the last search ended.
};

}  // namespace hearth::feed
