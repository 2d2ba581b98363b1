#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/feed/ids/post_key.h"
#include "base/status.h"

namespace hearth::feed {

// A change that affects the caches of other users.
struct FeedEvent {
  enum class Kind : uint8_t { kPostCreated, kPostDeleted, kUserFollowed, kUserUnfollowed };

  Kind kind;
  UserId author_id;               // Of the post; or the account that was (un)followed.
  PostKey post = {};              // For kPostCreated and kPostDeleted.
  UserId user_id = {};            // For the other two: the follower.
  int64_t following_version = 0;  // For the other two: the new version of the follower's list.

  friend bool operator==(const FeedEvent&, const FeedEvent&) = default;
};

// "post_created" and so on.
std::string_view ToString(FeedEvent::Kind kind);
Result<FeedEvent::Kind> ParseKind(std::string_view text);

// A queue of events: durable, at least once, in no strict order. An event that is neither finished
// nor kept alive for `idle_max` is delivered again, to any consumer. After kTriesMax failed
// deliveries it becomes a dead letter.
//
// Threads: safe for concurrent use. Errors: Unavailable if the queue cannot be reached.
class FeedQueue {
 public:
  static constexpr size_t kBatchMax = 10;
  static constexpr int kTriesMax = 3;
  static constexpr std::chrono::minutes kIdleMax{1};

  virtual ~FeedQueue() = default;

  virtual Status Publish(const FeedEvent& event) = 0;

  struct Delivery {
    std::string id;
    FeedEvent event;
    int tries;  // Including this one.
  };
  // At most kBatchMax. If there are none, waits for up to `patience`.
  virtual Result<std::vector<Delivery>> Take(std::chrono::milliseconds patience) = 0;
  virtual Status KeepAlive(const Delivery& delivery) = 0;
  virtual Status Finish(const Delivery& delivery) = 0;
  // Processing failed: retried later, or never.
  virtual Status Fail(const Delivery& delivery, const Status& reason) = 0;

  struct Depth {
    int64_t waiting = 0;  // Including those being processed.
    int64_t dead = 0;
  };
  virtual Result<Depth> Measure() = 0;
  // Makes Take return soon, and from then on at once.
  virtual void Stop() = 0;
};

}  // namespace hearth::feed
