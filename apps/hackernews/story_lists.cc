#include "apps/hackernews/story_lists.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/status_macros.h"

namespace hearth::hackernews {
namespace {

void Cap(Stories& stories) {
  if (stories.size() > kListedStoriesMax) stories.resize(kListedStoriesMax);
}

// If both have a story, the day's version wins: it is fresher.
Stories Merge(const Stories& list, const Stories& day) {
  Stories result = day;
  std::unordered_set<int64_t> ids;
  for (const Story& story : day) ids.insert(story.id);
  for (const Story& story : list) {
    if (!ids.contains(story.id)) result.push_back(story);
  }
  SortByScore(result);
  Cap(result);
  return result;
}

// `list` with new scores and new stories from `news`, if any apply: stories already in it, and
// those newer than `oldest_ms`.
std::optional<Stories> Updated(const Stories& list, const Stories& news, int64_t oldest_ms) {
  std::unordered_map<int64_t, const Story*> by_id;
  for (const Story& story : news) by_id.emplace(story.id, &story);
  Stories result = list;
  bool is_changed = false;
  for (Story& story : result) {
    const auto found = by_id.find(story.id);
    if (found == by_id.end()) continue;
    is_changed |= story != *found->second;
    story = *found->second;
    by_id.erase(found);
  }
  for (const Story& story : news) {
    if (!by_id.contains(story.id) || story.time_ms <= oldest_ms) continue;
    result.push_back(story);
    is_changed = true;
  }
  if (!is_changed) return std::nullopt;
  SortByScore(result);
  Cap(result);
  return result;
}

int64_t NowMs(const Clock& clock) { return clock.WallMicros() / 1'000; }

}  // namespace

StoryLists::StoryLists(const Clock& clock, const StoryStore& store, Collections collections)
    : clock_(clock),
      store_(store),
      documents_(std::move(collections)),
      cache_(clock, documents_, kTimespans.size()) {}

Result<StoryLists::List> StoryLists::Cached(Timespan timespan) {
  ASSIGN_OR_RETURN(auto hit, cache_.Get(std::string(NameOf(timespan)), TimeToLiveOf(timespan),
                                        [&] { return store_.Top(timespan, NowMs(clock_)); }));
  return std::move(hit.cached.value);
}

Result<StoryLists::List> StoryLists::Get(Timespan timespan) {
  ASSIGN_OR_RETURN(List list, Cached(timespan));
  if (timespan == Timespan::kDay) return list;
  ASSIGN_OR_RETURN(List day, Cached(Timespan::kDay));
  {
    MutexLock lock(mutex_);
    const Merged& merged = merged_[timespan];
    if (merged.list == list && merged.day == day) return merged.result;
  }
  List result = std::make_shared<const Stories>(Merge(*list, *day));
  MutexLock lock(mutex_);
  merged_[timespan] = {std::move(list), std::move(day), result};
  return result;
}

Status StoryLists::Patch(const Stories& stories) {
  const int64_t now_ms = NowMs(clock_);
  Status failure;
  for (const Timespan timespan : kTimespans) {
    const auto length = LengthOf(timespan);
    const int64_t oldest_ms = length ? now_ms - length->count() : -1;
    const Status patched = cache_.Patch(std::string(NameOf(timespan)), [&](const Stories& list) {
      return Updated(list, stories, oldest_ms);
    });
    if (!patched.ok() && failure.ok()) failure = patched;  // The other lists are still updated.
  }
  return failure;
}

Status StoryLists::ClearCache() { return cache_.Clear(); }

}  // namespace hearth::hackernews
