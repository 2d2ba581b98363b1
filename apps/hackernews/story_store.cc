#include "apps/hackernews/story_store.h"

#include <algorithm>
#include <utility>

#include "base/mutex.h"
#include "base/status_macros.h"

namespace hearth::hackernews {
namespace {

using client::Direction;
using client::Op;

client::Timestamp ToTimestamp(int64_t ms) { return client::Timestamp::FromMicros(ms * 1'000); }

}  // namespace

Result<Stories> StoryStore::Top(Timespan timespan, int64_t now_ms) const {
  client::Query query = collections_.stories();
  const std::optional<std::chrono::milliseconds> length = LengthOf(timespan);
  // A limit would have to follow the order of the inequality's field. By time, it would drop the
  // best of the older stories. So all of them are read and sorted here.
  query = length ? query.Where("time", Op::kGreater, ToTimestamp(now_ms - length->count()))
                       .OrderBy("time", Direction::kDescending)
                 : query.OrderBy("score", Direction::kDescending).Limit(kListedStoriesMax);
  Stories stories;
  const Result<client::Timestamp> read =
      query.Stream([&](const client::DocumentSnapshot& document) {
        stories.push_back(FromDocument(document.view()));
        return true;
      });
  RETURN_IF_ERROR(read.status());
  SortByScore(stories);
  if (stories.size() > kListedStoriesMax) stories.resize(kListedStoriesMax);
  return stories;
}

Result<std::optional<int64_t>> StoryStore::LatestId() const {
  ASSIGN_OR_RETURN(
      const client::QuerySnapshot latest,
      collections_.stories().OrderBy("id", Direction::kDescending).Limit(1).Select({"id"}).Get());
  if (latest.empty()) return std::optional<int64_t>();
  return std::optional(FromDocument(latest.documents.front().view()).id);
}

Result<std::vector<int64_t>> StoryStore::Stale(const StaleTier& tier, int64_t now_ms) const {
  ASSIGN_OR_RETURN(const client::QuerySnapshot stale,
                   collections_.stories()
                       .Where("time", Op::kGreater, ToTimestamp(now_ms - tier.newer_than.count()))
                       .Where("updated", Op::kLess, ToTimestamp(now_ms - tier.stale_after.count()))
                       .OrderBy("updated")
                       .Limit(kWorkerBatchMax)
                       .Select({"id"})
                       .Get());
  std::vector<int64_t> ids;
  ids.reserve(stale.size());
  for (const client::DocumentSnapshot& document : stale.documents) {
    ids.push_back(FromDocument(document.view()).id);
  }
  return ids;
}

Status StoryStore::Save(std::vector<StoryItem> items, int64_t now_ms) const {
  std::sort(items.begin(), items.end(),
            [](const StoryItem& a, const StoryItem& b) { return a.story.id < b.story.id; });
  for (size_t begin = 0; begin < items.size(); begin += kWorkerBatchMax) {
    client::WriteBatch batch = collections_.database().Batch();
    const size_t end = std::min(items.size(), begin + kWorkerBatchMax);
    for (size_t i = begin; i < end; ++i) {
      batch.Set(Doc(items[i].story.id), ToDocument(items[i], ToTimestamp(now_ms)));
    }
    RETURN_IF_ERROR(batch.Commit().status());
  }
  return Status();
}

Status StoryStore::SaveRefreshed(const std::vector<Refresh>& refreshes, int64_t now_ms) const {
  Mutex mutex;
  Status failure;
  client::BulkWriter writer =
      collections_.database().Bulk({}, [&](const client::DocumentReference&, const Status& error) {
        // A story that was deleted meanwhile stays deleted.
        if (error.code() == Code::kNotFound) return;
        MutexLock lock(mutex);
        if (failure.ok()) failure = error;
      });
  for (const Refresh& refresh : refreshes) {
    client::Map changes = {{"updated", ToTimestamp(now_ms)}};
    if (refresh.item) {
      changes = ToDocument(*refresh.item, ToTimestamp(now_ms));
      if (!refresh.item->story.url) changes.emplace("url", client::FieldValue::Delete());
    }
    writer.Update(Doc(refresh.id), changes);
  }
  IgnoreError(writer.Flush(), "the callback received each error");
  MutexLock lock(mutex);
  return failure;
}

}  // namespace hearth::hackernews
