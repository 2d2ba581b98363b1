#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "apps/hackernews/collections.h"
#include "apps/hackernews/story.h"
#include "base/status.h"
#include "kit/jobs/cache.h"

namespace hearth::hackernews {

// A list must fit into a document, whose limit is 1 MiB. Longer lists are truncated, dropping the
// lowest scores.
inline constexpr size_t kCacheDocumentBytesMax = 1'000'000;

// The second tier: one document per timespan. Reading one costs one read, whereas computing a
// year's list costs one per story.
//
// Threads: safe for concurrent use. Errors: those of the database.
class CacheDocuments final : public kit::SecondTier<Stories> {
 public:
  explicit CacheDocuments(Collections collections) : collections_(std::move(collections)) {}

  Result<std::optional<kit::Cached<Stories>>> Load(const std::string& key) override;
  Status Store(const std::string& key, const kit::Cached<Stories>& cached) override;
  Status Clear() override;

 private:
  const Collections collections_;
};

}  // namespace hearth::hackernews
