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
// "stream:feed:dead". Finished events are deleted, so the stream holds only waiting ones. After a
// flush the group is created again, and the repair of caches makes up for lost events.
//
// Threads: safe for concurrent use; at most RedisNode::kWaitingConnectionsMax wait in Take at a
// time. Ownership: borrows the client. Errors: Unavailable if Redis cannot serve.
class RedisFeedQueue final : public FeedQueue {
 public:
  // Beyond this the oldest are lost. Redis trims approximately and keeps some more.
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
  // An entry of the stream with its raw fields.
  struct Entry {
    std::string id;
    std::vector<std::string> fields;
    int tries = 1;
  };

  // Runs a command that needs the group; creates the group if it is missing.
  Result<RedisReply> RunWithGroup(const RedisCommand& command,
                                  std::chrono::milliseconds patience = {});
  // Entries that were taken but not finished.
  Result<std::vector<Entry>> Reclaim() EXCLUDES_LOCK(mutex_);
  Status CountTries(std::vector<Entry>* entries);
  // New entries. If there are none, waits for `wait`; 0: does not wait.
  Result<std::vector<Entry>> ReadNew(size_t limit, std::chrono::milliseconds wait);
  // The entries to deliver; the others become dead letters.
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
