#include "documents/commit_clock.h"

#include <algorithm>

namespace hearth::documents {

using model::Timestamp;

CommitClock::CommitClock(const Clock& clock, Timestamp newest)
    : clock_(clock),
      newest_commit_(newest),
      // A read time even while the first commit is under way, and before it.
      assigned_(std::max(newest, Timestamp::FromMicros(clock.WallMicros() - 1))),
      visible_(assigned_) {}

Timestamp CommitClock::Assign() {
  const Timestamp now = Timestamp::FromMicros(clock_.WallMicros());
  MutexLock lock(mutex_);
  assigned_ = std::max(now, Timestamp::FromMicros(assigned_.micros() + 1));
  newest_commit_ = assigned_;
  return assigned_;
}

void CommitClock::Publish() {
  {
    MutexLock lock(mutex_);
    visible_.store(assigned_);
  }
  published_.NotifyAll();
}

bool CommitClock::TrySettleLocked(Timestamp time) {
  if (IsVisible(time)) return true;
  const bool commits_under_way = assigned_ != visible_.load();
  if (commits_under_way) return false;
  assigned_ = time;
  visible_.store(time);
  return true;
}

bool CommitClock::TrySettle(Timestamp time) {
  MutexLock lock(mutex_);
  return TrySettleLocked(time);
}

void CommitClock::WaitUntilSettled(Timestamp time) {
  MutexLock lock(mutex_);
  while (!TrySettleLocked(time)) published_.Wait(mutex_);
}

Timestamp CommitClock::ReadTime() {
  const Timestamp now = Timestamp::FromMicros(clock_.WallMicros());
  MutexLock lock(mutex_);
  const bool commits_under_way = assigned_ != visible_.load();
  if (commits_under_way) return visible_.load();
  assigned_ = std::max(now, assigned_);
  visible_.store(assigned_);
  return assigned_;
}

Timestamp CommitClock::Newest() const {
  MutexLock lock(mutex_);
  return assigned_;
}

bool CommitClock::IsNewest(Timestamp time) const {
  MutexLock lock(mutex_);
  return newest_commit_ <= time;
}

}  // namespace hearth::documents
