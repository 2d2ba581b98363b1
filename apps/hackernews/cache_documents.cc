#include "apps/hackernews/cache_documents.h"

#include <memory>
#include <utility>

#include "apps/hackernews/timespan.h"
#include "base/status_macros.h"

namespace hearth::hackernews {
namespace {

// The size of an entry's names and numbers by Firestore's formula, rounded up.
constexpr size_t kEntryBytes = 100;

size_t EntryBytes(const Story& story) {
  return kEntryBytes + story.by.size() + story.title.size() + (story.url ? story.url->size() : 0);
}

}  // namespace

Result<std::optional<kit::Cached<Stories>>> CacheDocuments::Load(const std::string& key) {
  ASSIGN_OR_RETURN(const client::DocumentSnapshot document, collections_.cache().Doc(key).Get());
  if (!document.exists()) return std::optional<kit::Cached<Stories>>();
  const std::optional<model::ValueView> cached_at = document.view().Find("cachedAt");
  const std::optional<model::ValueView> list = document.view().Find("stories");
  if (!cached_at || cached_at->type() != model::ValueType::kInteger || !list ||
      list->type() != model::ValueType::kArray) {
    return std::optional<kit::Cached<Stories>>();  // Not our format: it will be overwritten.
  }
  auto stories = std::make_shared<Stories>();
  for (model::ArrayView rest = list->array(); const auto entry = rest.Next();) {
    if (entry->type() == model::ValueType::kMap) stories->push_back(FromCacheEntry(entry->map()));
  }
  return std::optional(kit::Cached<Stories>{std::move(stories), cached_at->integer()});
}

Status CacheDocuments::Store(const std::string& key, const kit::Cached<Stories>& cached) {
  client::Array entries;
  size_t bytes = 0;
  for (const Story& story : *cached.value) {
    bytes += EntryBytes(story);
    if (bytes > kCacheDocumentBytesMax) break;
    entries.push_back(ToCacheEntry(story));
  }
  const client::Map document = {{"stories", std::move(entries)}, {"cachedAt", cached.cached_at_ms}};
  return collections_.cache().Doc(key).Set(document).status();
}

Status CacheDocuments::Clear() {
  client::WriteBatch batch = collections_.database().Batch();
  for (const Timespan timespan : kTimespans) {
    batch.Delete(collections_.cache().Doc(NameOf(timespan)));
  }
  return batch.Commit().status();
}

}  // namespace hearth::hackernews
