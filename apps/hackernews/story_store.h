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

// Length of a list. Enough for a full page even for a user who has hidden many stories.
inline constexpr size_t kListedStoriesMax = 2'000;
// Per query of the worker.
inline constexpr size_t kWorkerBatchMax = 200;

// Stories newer than `newer_than` are stale if they were last checked `stale_after` ago.
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
  // Ids of stale stories, least recently checked first; at most kWorkerBatchMax.
  Result<std::vector<int64_t>> Stale(const StaleTier& tier, int64_t now_ms) const;

  // Saves stories, lowest ids first: whenever this stops, no story below LatestId is missing.
  Status Save(std::vector<StoryItem> items, int64_t now_ms) const;
  // Updates the fields of a story that may change. Deleted stories stay deleted.
  struct Refresh {
    int64_t id;
    std::optional<StoryItem> item;  // Nullopt: gone from Hacker News; only the time is updated.
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
