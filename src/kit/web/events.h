#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"

namespace hearth::kit {

// News of some long work, for any number of pages that watch it as server-sent events.
//
// Events are numbered from 1. The newest are kept, so that whoever comes late, or comes back with
// the number of the last one it saw, gets what it missed as far as it is still there.
//
// Threads: safe for concurrent use; subscribers are called on the publisher's thread. Ownership:
// shared by those who publish and by the streams that deliver.
class EventChannel {
 public:
  static constexpr size_t kPastEventsMax = 256;
  static constexpr size_t kPastBytesMax = 1024 * 1024;  // The newest event is kept in any case.
  static constexpr size_t kSubscribersMax = 1'000;

  explicit EventChannel(size_t past_events_max = kPastEventsMax);
  EventChannel(const EventChannel&) = delete;
  EventChannel& operator=(const EventChannel&) = delete;

  // `name`: one line of text. After Close it does nothing.
  void Publish(std::string_view name, const nlohmann::json& data) EXCLUDES_LOCK(mutex_);
  // Streams end once they have delivered what there is.
  void Close() EXCLUDES_LOCK(mutex_);

  // Some of the events that follow number `after`.
  struct Piece {
    std::string text = {};   // In the form of server-sent events.
    uint64_t last_id = 0;    // Of the last event in it; `after` where there is none.
    bool has_gap = false;    // The one after `after` is no longer kept.
    bool has_ended = false;  // The channel is closed, and nothing follows this piece.
  };
  // A number that is yet to come, from before a restart, counts as none.
  Piece ReadAfter(uint64_t after, size_t bytes_max) const EXCLUDES_LOCK(mutex_);

  // `on_news` is called after every event and after Close; it must not block. nullopt when
  // kSubscribersMax listen already.
  std::optional<uint64_t> Subscribe(std::function<void()> on_news) EXCLUDES_LOCK(mutex_);
  // A call that has begun may still be under way when this returns.
  void Unsubscribe(uint64_t subscription) EXCLUDES_LOCK(mutex_);
  size_t subscriber_count() const EXCLUDES_LOCK(mutex_);

 private:
  struct Event {
    uint64_t id;
    std::string text;
  };

  void CallSubscribers() EXCLUDES_LOCK(mutex_);

  const size_t past_events_max_;
  mutable Mutex mutex_;  // Leaf lock: subscribers are called without it.
  std::deque<Event> events_ GUARDED_BY(mutex_);
  size_t bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t last_id_ GUARDED_BY(mutex_) = 0;
  bool closed_ GUARDED_BY(mutex_) = false;
  std::map<uint64_t, std::function<void()>> subscribers_ GUARDED_BY(mutex_);
  uint64_t next_subscription_ GUARDED_BY(mutex_) = 1;
};

}  // namespace hearth::kit
