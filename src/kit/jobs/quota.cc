#include "kit/jobs/quota.h"

#include <algorithm>
#include <iterator>

namespace hearth::kit {

QuotaWindows::QuotaWindows(const Clock& clock, size_t limit, std::chrono::milliseconds window,
                           size_t keys_max)
    : clock_(clock), limit_(limit), window_(window), keys_max_(std::max<size_t>(keys_max, 1)) {}

QuotaWindows::Outcome QuotaWindows::Spend(const std::string& key,
                                          std::optional<size_t> stricter_limit) {
  const TimePoint now = clock_.Monotonic();
  const size_t limit = std::min(limit_, stricter_limit.value_or(limit_));
  MutexLock lock(mutex_);
  const Windows::iterator window = WindowOf(key, now);
  const bool allowed = window->used < limit;
  if (allowed) SetUsed(window, window->used + 1);
  return {.allowed = allowed,
          .remaining = limit - std::min(limit, window->used),
          .until_reset = std::chrono::ceil<std::chrono::milliseconds>(window->end - now)};
}

void QuotaWindows::Refund(const std::string& key) {
  MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  // The window may have ended or been dropped meanwhile.
  if (found == by_key_.end() || found->second->used == 0) return;
  SetUsed(found->second, found->second->used - 1);
}

void QuotaWindows::Reset(const std::string& key) {
  MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) Drop(found->second);
}

void QuotaWindows::SetUsed(Windows::iterator window, size_t used) {
  Windows& from = ListFor(window->used);
  Windows& to = ListFor(used);
  if (&from != &to) to.splice(to.end(), from, window);
  window->used = used;
}

void QuotaWindows::Drop(Windows::iterator window) {
  by_key_.erase(window->key);
  ListFor(window->used).erase(window);
}

QuotaWindows::Windows::iterator QuotaWindows::WindowOf(const std::string& key, TimePoint now) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    if (now < found->second->end) return found->second;
    Drop(found->second);
  }
  if (by_key_.size() >= keys_max_) {
    const bool has_ended = !spent_.empty() && spent_.front().end <= now;
    Drop(has_ended || open_.empty() ? spent_.begin() : open_.begin());
  }
  Windows& list = ListFor(0);
  list.push_back({.key = key, .end = now + window_});
  return by_key_.emplace(key, std::prev(list.end())).first->second;
}

}  // namespace hearth::kit
