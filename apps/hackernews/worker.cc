#include "apps/hackernews/worker.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/status_macros.h"

namespace hearth::hackernews {
namespace {

// An invalid item will be invalid next time, too: it must not hold up the others.
bool MayPass(const Status& status) { return !status.ok() && status.code() != Code::kDataLoss; }

Stories StoriesOf(const std::vector<StoryItem>& items) {
  Stories stories;
  for (const StoryItem& item : items) stories.push_back(item.story);
  return stories;
}

}  // namespace

Result<SyncReport> Worker::Run(const std::atomic<bool>& stopping) {
  SyncReport report;
  // Refreshes even if new stories cannot be fetched, and vice versa; the first error is returned.
  Status failure = FetchNew(stopping, &report);
  for (const StaleTier& tier : kStaleTiers) {
    if (stopping) return Status(Code::kCancelled, "stopped");
    const Status refreshed = RefreshStale(tier, &report);
    if (failure.ok()) failure = refreshed;
  }
  if (!failure.ok()) return failure;
  return report;
}

Status Worker::FetchNew(const std::atomic<bool>& stopping, SyncReport* report) {
  ASSIGN_OR_RETURN(std::vector<int64_t> ids, source_.NewStories());
  ASSIGN_OR_RETURN(const std::optional<int64_t> latest, store_.LatestId());
  if (latest) std::erase_if(ids, [&](int64_t id) { return id <= *latest; });
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());

  // Ascending, in batches: a story that could not be fetched must not lie below the latest id, or
  // later runs would not look for it.
  for (size_t begin = 0; begin < ids.size() && !stopping; begin += kWorkerBatchMax) {
    const std::vector<int64_t> batch(
        ids.begin() + static_cast<ptrdiff_t>(begin),
        ids.begin() + static_cast<ptrdiff_t>(std::min(ids.size(), begin + kWorkerBatchMax)));
    std::vector<StoryItem> items;
    Status failure;
    for (Result<std::optional<StoryItem>>& item : source_.Items(batch)) {
      if (MayPass(item.status())) {
        failure = item.status();
        ++report->failed_fetches;
        break;
      }
      if (item.ok() && *item) items.push_back(**std::move(item));
    }
    const Stories stories = StoriesOf(items);
    RETURN_IF_ERROR(store_.Save(std::move(items), NowMs()));
    report->new_stories += stories.size();
    RETURN_IF_ERROR(lists_.Patch(stories));
    RETURN_IF_ERROR(failure);
  }
  return Status();
}

Status Worker::RefreshStale(const StaleTier& tier, SyncReport* report) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> ids, store_.Stale(tier, NowMs()));
  std::vector<StoryStore::Refresh> refreshes;
  Stories stories;
  Status failure;
  size_t next = 0;
  for (Result<std::optional<StoryItem>>& item : source_.Items(ids)) {
    const int64_t id = ids[next++];
    if (MayPass(item.status())) {
      if (failure.ok()) failure = item.status();
      ++report->failed_fetches;
      continue;
    }
    if (item.ok() && *item) {
      stories.push_back((*item)->story);
      refreshes.push_back({id, *std::move(item)});
      ++report->refreshed_stories;
    } else {
      // Marked as checked, or it would be among the first of every run.
      refreshes.push_back({id, std::nullopt});
      ++report->gone_stories;
    }
  }
  RETURN_IF_ERROR(store_.SaveRefreshed(refreshes, NowMs()));
  RETURN_IF_ERROR(lists_.Patch(stories));
  return failure;
}

}  // namespace hearth::hackernews
