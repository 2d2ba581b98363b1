#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "client/snapshot.h"
#include "client/value.h"

namespace hearth::hackernews {

// A story as shown in lists.
struct Story {
  int64_t id = 0;
  std::string by;
  int64_t descendants = 0;  // The number of comments.
  int64_t score = 0;
  int64_t time_ms = 0;  // Since the epoch.
  std::string title;
  std::optional<std::string> url;  // Some stories are text only.

  friend bool operator==(const Story&, const Story&) = default;
};

using Stories = std::vector<Story>;

// A story as received from Hacker News.
struct StoryItem {
  Story story;
  std::vector<int64_t> kids;  // Its comments' ids.
};

// "0042345678": document ids sort as text, so they are padded to ten digits.
std::string PaddedId(int64_t id);

// Nullopt if the item is not shown: null, a comment, a job, deleted or dead. DataLoss if it is
// malformed.
Result<std::optional<StoryItem>> ParseItem(const nlohmann::json& item);

// To and from the documents of the stories collection.
client::Map ToDocument(const StoryItem& item, client::Timestamp updated);
// Fields that are missing or of another type keep their defaults.
Story FromDocument(model::MapView fields);

// To and from the entries of the cache's documents.
client::Value ToCacheEntry(const Story& story);
Story FromCacheEntry(model::MapView entry);

nlohmann::json ToJson(const Story& story);

// By descending score, then newest first.
void SortByScore(Stories& stories);

}  // namespace hearth::hackernews
