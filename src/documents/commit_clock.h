#pragma once

#include <atomic>

#include "base/clock.h"
#include "base/mutex.h"
#include "model/timestamp.h"

namespace hearth::documents {

// Assigns commit times and tracks which of them readers may see.
//
// Commit times strictly increase, even across restarts, whatever the machine's clock does. A read
// time never covers a commit that is not on disk yet, and no later commit gets a time at or below a
// read time that was handed out. This also holds after a clean stop, and after a kill unless the
// machine's clock was set back.
//
// Threads: safe for concurrent use.
class CommitClock {
 public:
  // `newest`: the newest time on disk, assigned to a commit or handed out to a reader.
  CommitClock(const Clock& clock, model::Timestamp newest);

  // Assigns the time of the next commit.
  model::Timestamp Assign() EXCLUDES_LOCK(mutex_);

  // Call this once every assigned commit is on disk and visible, or has failed for good.
  void Publish() EXCLUDES_LOCK(mutex_);

  // A moment for reading the present: every acknowledged commit is at or before it.
  model::Timestamp ReadTime() EXCLUDES_LOCK(mutex_);

  // True if readers of the present may see a commit with this time.
  bool IsVisible(model::Timestamp commit_time) const { return commit_time <= visible_.load(); }

  // Fixes `time` as a moment to read at: every commit up to it is visible, and none will be added.
  // False while commits up to it may still be on their way to the disk.
  bool TrySettle(model::Timestamp time) EXCLUDES_LOCK(mutex_);
  // Waits until TrySettle succeeds: for one or two syncs of the disk.
  void WaitUntilSettled(model::Timestamp time) EXCLUDES_LOCK(mutex_);

  // The newest time that was handed out, to a commit or to a reader.
  model::Timestamp Newest() const EXCLUDES_LOCK(mutex_);

  // True if no commit time after `time` has been assigned.
  bool IsNewest(model::Timestamp time) const EXCLUDES_LOCK(mutex_);

 private:
  bool TrySettleLocked(model::Timestamp time) REQUIRES_LOCK(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;  // Leaf lock.
  CondVar published_;
  model::Timestamp newest_commit_ GUARDED_BY(mutex_);
  model::Timestamp assigned_ GUARDED_BY(mutex_);
  std::atomic<model::Timestamp> visible_;  // Changes only while the mutex is held.
};

}  // namespace hearth::documents
