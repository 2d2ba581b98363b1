#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "apps/hackernews/cache_documents.h"
#include "apps/hackernews/story_store.h"
#include "apps/hackernews/timespan.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "kit/jobs/cache.h"

namespace hearth::hackernews {

// The lists that readers see: from memory, else from the cache's documents, else computed. Lists of
// more than a day have the day's stories merged in, so that new ones appear at once although a
// year's list is computed only once a month.
//
// Threads: safe for concurrent use. Ownership: borrows the clock and the store. Errors: those of
// the database, if a list has to be computed.
class StoryLists {
 public:
  StoryLists(const Clock& clock, const StoryStore& store, Collections collections);

  // The list of a timespan, by score, at most kListedStoriesMax.
  Result<std::shared_ptr<const Stories>> Get(Timespan timespan) EXCLUDES_LOCK(mutex_);
  // Adds new stories and new scores to all lists, in both tiers.
  Status Patch(const Stories& stories);
  // Clears all lists, in both tiers.
  Status ClearCache();

 private:
  using List = std::shared_ptr<const Stories>;  // Shared with the cache and with readers.
  struct Merged {
    List list;
    List day;
    List result;
  };

  Result<List> Cached(Timespan timespan);

  const Clock& clock_;
  const StoryStore& store_;
  CacheDocuments documents_;
  kit::TwoTierCache<Stories> cache_;
  Mutex mutex_;  // Leaf lock.
  std::map<Timespan, Merged> merged_ GUARDED_BY(mutex_);
};

}  // namespace hearth::hackernews
