#include "kit/jobs/quota.h"

#include <algorithm>

namespace hearth::kit {

QuotaWindows::QuotaWindows(const Clock& clock, size_t limit, std::chrono::milliseconds window,
                           size_t keys_max)
    : clock_(clock), limit_(limit), window_(window), keys_max_(keys_max) {}

QuotaWindows::Outcome QuotaWindows::Spend(const std::string& key) {
  const TimePoint now = clock_.Monotonic();
  MutexLock lock(mutex_);
  auto found = windows_.find(key);
  if (found == windows_.end()) {
    if (windows_.size() >= keys_max_ && now >= first_end_) ForgetEndedLocked(now);
    if (windows_.size() >= keys_max_) {
      return {.allowed = false, .remaining = 0, .until_reset = Until(first_end_, now)};
    }
    found = windows_.emplace(key, Window{.end = now + window_, .used = 0}).first;
  } else if (now >= found->second.end) {
    found->second = {.end = now + window_, .used = 0};
  }
  Window& window = found->second;
  first_end_ = std::min(first_end_, window.end);
  const bool allowed = window.used < limit_;
  if (allowed) ++window.used;
  return {
      .allowed = allowed, .remaining = limit_ - window.used, .until_reset = Until(window.end, now)};
}

void QuotaWindows::Reset(const std::string& key) {
  MutexLock lock(mutex_);
  windows_.erase(key);
}

void QuotaWindows::ForgetEndedLocked(TimePoint now) {
  std::erase_if(windows_, [now](const auto& entry) { return now >= entry.second.end; });
  first_end_ = TimePoint::max();
  for (const auto& [key, window] : windows_) first_end_ = std::min(first_end_, window.end);
}

std::chrono::milliseconds QuotaWindows::Until(TimePoint end, TimePoint now) {
  // Without keys no window ever ends: return the longest wait.
  if (end == TimePoint::max()) return std::chrono::milliseconds::max();
  return std::chrono::ceil<std::chrono::milliseconds>(end - now);
}

}  // namespace hearth::kit
