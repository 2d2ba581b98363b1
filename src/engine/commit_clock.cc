#include "engine/commit_clock.h"

#include <algorithm>

namespace hearth::engine {

using model::Timestamp;

CommitClock::CommitClock(const Clock& clock, Timestamp newest)
    : clock_(clock), newest_commit_(newest), assigned_(newest), visible_(newest) {}

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
    visible_ = assigned_;
  }
  published_.NotifyAll();
}

bool CommitClock::TrySettleLocked(Timestamp time) {
  if (time <= visible_) return true;
  const bool commits_under_way = assigned_ != visible_;
  if (commits_under_way) return false;
  visible_ = assigned_ = time;
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
  const bool commits_under_way = assigned_ != visible_;
  if (commits_under_way) return visible_;
  visible_ = assigned_ = std::max(now, assigned_);
  return visible_;
}

Timestamp CommitClock::ReadTimeOfSnapshot(Timestamp snapshot_newest) {
  const Timestamp now = Timestamp::FromMicros(clock_.WallMicros());
  MutexLock lock(mutex_);
  // Between the snapshot's newest commit and `visible_` there can be read times but no commits,
  // unless a commit was made after the snapshot; only then is the snapshot's own time the limit.
  const bool is_present = assigned_ == visible_ && newest_commit_ == snapshot_newest;
  if (!is_present) return snapshot_newest;
  visible_ = assigned_ = std::max(now, assigned_);
  return visible_;
}

Timestamp CommitClock::Newest() const {
  MutexLock lock(mutex_);
  return newest_commit_;
}

bool CommitClock::IsNewest(Timestamp time) const {
  MutexLock lock(mutex_);
  return newest_commit_ <= time;
}

}  // namespace hearth::engine
