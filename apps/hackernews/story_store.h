#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/hackernews/collections.h"
#include "apps/hackernews/story.h"
#include "apps/hackernews/timespan.h"
#include "base/status.h"

namespace hearth::hackernews {

// Of a list. Enough that somebody who has hidden many stories still gets a full page.
inline constexpr size_t kListedStoriesMax = 2'000;
// Of one query of the worker.
inline constexpr size_t kWorkerBatchMax = 200;

// Stories newer than `newer_than` are stale when they were last looked at `stale_after` ago.
struct StaleTier {
  std::chrono::milliseconds newer_than;
  std::chrono::milliseconds stale_after;
};

// The stories collection. Threads: safe for concurrent use. Errors: those of the database.
class StoryStore {
 public:
  explicit StoryStore(Collections collections) : collections_(std::move(collections)) {}

  // The stories of a timespan with the highest scores, at most kListedStoriesMax, in that order.
  Result<Stories> Top(Timespan timespan, int64_t now_ms) const;
  // The highest id; nullopt without stories.
  Result<std::optional<int64_t>> LatestId() const;
  // Ids of stale stories, those first that were not looked at for longest; kWorkerBatchMax at most.
  Result<std::vector<int64_t>> Stale(const StaleTier& tier, int64_t now_ms) const;

  // Saves stories, the lowest ids first: whenever this ends, no story below LatestId is missing
  // that was to be saved.
  Status Save(std::vector<StoryItem> items, int64_t now_ms) const;
  // Saves what may have changed of a story. Stories that are gone from the database stay so.
  struct Refresh {
    int64_t id;
    std::optional<StoryItem> item;  // Absent: Hacker News has it no more; only the time is noted.
  };
  Status SaveRefreshed(const std::vector<Refresh>& refreshes, int64_t now_ms) const;
  Result<int64_t> Count() const { return collections_.stories().Count(); }

 private:
  client::DocumentReference Doc(int64_t id) const {
    return collections_.stories().Doc(PaddedId(id));
  }

  const Collections collections_;
};

}  // namespace hearth::hackernews
