#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

#include "apps/hackernews/hn_source.h"
#include "apps/hackernews/story_lists.h"
#include "apps/hackernews/story_store.h"
#include "base/clock.h"
#include "base/status.h"

namespace hearth::hackernews {

// Scores settle with age, so older stories are checked less often.
inline constexpr std::array kStaleTiers = {
    StaleTier{std::chrono::hours(24 * 28), std::chrono::hours(48)},
    StaleTier{std::chrono::hours(24 * 7), std::chrono::hours(6)},
    StaleTier{std::chrono::hours(24), std::chrono::hours(1)},
};

// The outcome of one run.
struct SyncReport {
  size_t new_stories = 0;
  size_t refreshed_stories = 0;
  size_t gone_stories = 0;    // No longer on Hacker News.
  size_t failed_fetches = 0;  // Retried by the next run.
};

// Copies stories from Hacker News to the database and the lists.
//
// Threads: one run at a time. Ownership: borrows the constructor's arguments. Errors: those of
// Hacker News and of the database; what was saved before an error stays.
class Worker {
 public:
  Worker(const Clock& clock, HnSource& source, const StoryStore& store, StoryLists& lists)
      : clock_(clock), source_(source), store_(store), lists_(lists) {}

  Result<SyncReport> Run(const std::atomic<bool>& stopping);

 private:
  Status FetchNew(const std::atomic<bool>& stopping, SyncReport* report);
  Status RefreshStale(const StaleTier& tier, SyncReport* report);
  int64_t NowMs() const { return clock_.WallMicros() / 1'000; }

  const Clock& clock_;
  HnSource& source_;
  const StoryStore& store_;
  StoryLists& lists_;
};

}  // namespace hearth::hackernews
