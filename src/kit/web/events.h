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

// Progress events of long work, for any number of pages that watch it as server-sent events.
//
// Events are numbered from 1. The newest are kept, so that a late or reconnecting client gets the
// events it missed, as far as they are still kept.
//
// Threads: safe for concurrent use; subscribers are called on the publisher's thread. Ownership:
// shared by the publishers and by the streams that deliver.
class EventChannel {
 public:
  static constexpr size_t kPastEventsMax = 256;
  static constexpr size_t kPastBytesMax = 1024 * 1024;  // The newest event is always kept.
  static constexpr size_t kSubscribersMax = 1'000;

  explicit EventChannel(size_t past_events_max = kPastEventsMax);
  EventChannel(const EventChannel&) = delete;
  EventChannel& operator=(const EventChannel&) = delete;

  // `name`: one line of text. Does nothing after Close.
  void Publish(std::string_view name, const nlohmann::json& data) EXCLUDES_LOCK(mutex_);
  // Streams end once they have delivered all events.
  void Close() EXCLUDES_LOCK(mutex_);

  // Some of the events after number `after`.
  struct Piece {
    std::string text = {};   // In server-sent event format.
    uint64_t last_id = 0;    // Of its last event; `after` if it has none.
    bool has_gap = false;    // The event after `after` is no longer kept.
    bool has_ended = false;  // The channel is closed, and this piece is the last.
  };
  // A number beyond the last event (from before a restart) counts as 0.
  Piece ReadAfter(uint64_t after, size_t bytes_max) const EXCLUDES_LOCK(mutex_);

  // `on_news` is called after every event and after Close; it must not block. nullopt if there are
  // kSubscribersMax subscribers already.
  std::optional<uint64_t> Subscribe(std::function<void()> on_news) EXCLUDES_LOCK(mutex_);
  // A call that has begun may still be running when this returns.
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
