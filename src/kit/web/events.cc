#include "kit/web/events.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace hearth::kit {

EventChannel::EventChannel(size_t past_events_max) : past_events_max_(past_events_max) {
  CHECK(past_events_max_ > 0);
}

void EventChannel::Publish(std::string_view name, const nlohmann::json& data) {
  CHECK(name.find_first_of("\r\n") == std::string_view::npos);
  // JSON without indentation is one line, as the format requires.
  const std::string line = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  {
    MutexLock lock(mutex_);
    if (closed_) return;
    ++last_id_;
    std::string text = "id: " + std::to_string(last_id_) + "\nevent: " + std::string(name) +
                       "\ndata: " + line + "\n\n";
    bytes_ += text.size();
    events_.push_back({.id = last_id_, .text = std::move(text)});
    while (events_.size() > past_events_max_ || (bytes_ > kPastBytesMax && events_.size() > 1)) {
      bytes_ -= events_.front().text.size();
      events_.pop_front();
    }
  }
  CallSubscribers();
}

void EventChannel::Close() {
  {
    MutexLock lock(mutex_);
    if (closed_) return;
    closed_ = true;
  }
  CallSubscribers();
}

EventChannel::Piece EventChannel::ReadAfter(uint64_t after, size_t bytes_max) const {
  MutexLock lock(mutex_);
  if (after > last_id_) after = 0;
  Piece piece = {.last_id = after};
  piece.has_gap = !events_.empty() && events_.front().id > after + 1;
  auto next = std::ranges::upper_bound(events_, after, {}, &Event::id);
  for (; next != events_.end() && piece.text.size() < bytes_max; ++next) {
    piece.text += next->text;
    piece.last_id = next->id;
  }
  piece.has_ended = closed_ && next == events_.end();
  return piece;
}

std::optional<uint64_t> EventChannel::Subscribe(std::function<void()> on_news) {
  MutexLock lock(mutex_);
  if (subscribers_.size() >= kSubscribersMax) return std::nullopt;
  const uint64_t subscription = next_subscription_++;
  subscribers_.emplace(subscription, std::move(on_news));
  return subscription;
}

void EventChannel::Unsubscribe(uint64_t subscription) {
  MutexLock lock(mutex_);
  subscribers_.erase(subscription);
}

size_t EventChannel::subscriber_count() const {
  MutexLock lock(mutex_);
  return subscribers_.size();
}

void EventChannel::CallSubscribers() {
  std::vector<std::function<void()>> called;
  {
    MutexLock lock(mutex_);
    called.reserve(subscribers_.size());
    for (const auto& [subscription, on_news] : subscribers_) called.push_back(on_news);
  }
  for (const std::function<void()>& on_news : called) on_news();
}

}  // namespace hearth::kit
