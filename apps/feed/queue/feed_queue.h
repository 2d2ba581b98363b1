#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/feed/ids/post_key.h"
#include "base/status.h"

namespace hearth::feed {

// Something that changes the caches of others than the one who did it.
struct FeedEvent {
  enum class Kind : uint8_t { kPostCreated, kPostDeleted, kUserFollowed, kUserUnfollowed };

  Kind kind;
  UserId author_id;               // Of the post; or who was followed or unfollowed.
  PostKey post = {};              // Of kPostCreated and kPostDeleted.
  UserId user_id = {};            // Of the other two: who followed or unfollowed.
  int64_t following_version = 0;  // Of the other two: of that user's list, afterwards.

  friend bool operator==(const FeedEvent&, const FeedEvent&) = default;
};

// "post_created" and so on.
std::string_view ToString(FeedEvent::Kind kind);
Result<FeedEvent::Kind> ParseKind(std::string_view text);

// Events on their way to those who work on them: durable, delivered at least once, in no strict
// order. An event that is neither finished nor kept alive for `idle_max` is delivered again, to
// whoever asks; one that has been delivered kTriesMax times in vain becomes a dead letter.
//
// Threads: safe for concurrent use. Errors: Unavailable where the queue cannot be reached.
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
    int tries;  // This one included.
  };
  // At most kBatchMax. Waits for `patience` at most where there are none.
  virtual Result<std::vector<Delivery>> Take(std::chrono::milliseconds patience) = 0;
  virtual Status KeepAlive(const Delivery& delivery) = 0;
  virtual Status Finish(const Delivery& delivery) = 0;
  // It could not be worked on: later again, or never.
  virtual Status Fail(const Delivery& delivery, const Status& reason) = 0;

  struct Depth {
    int64_t waiting = 0;  // Those being worked on included.
    int64_t dead = 0;
  };
  virtual Result<Depth> Measure() = 0;
  // Take returns soon, and from now on at once.
  virtual void Stop() = 0;
};

}  // namespace hearth::feed
