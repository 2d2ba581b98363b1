#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"

namespace hearth::kit {

// A value and when it was computed. Promotion from one tier to another keeps the time: nothing
// lives for two time-to-lives.
template <typename T>
struct Cached {
  std::shared_ptr<const T> value;  // Shared by the cache and its readers.
  int64_t cached_at_ms;            // Since the epoch.
};

// Where a cache keeps what must survive the process. Threads: safe for concurrent use.
template <typename T>
class SecondTier {
 public:
  virtual ~SecondTier() = default;

  virtual Result<std::optional<Cached<T>>> Load(const std::string& key) = 0;
  virtual Status Store(const std::string& key, const Cached<T>& cached) = 0;
  virtual Status Clear() = 0;
};

// Values that are dear to compute: first in memory, then in the second tier, then computed. A cold
// burst computes once (single flight): the others wait for it.
//
// A second tier that fails is passed over, and counts as empty: the cache is never the reason for
// an error.
//
// Threads: safe for concurrent use. Ownership: borrows the clock and the second tier. Errors: those
// of `compute`, to all who waited; nothing is kept then.
template <typename T>
class TwoTierCache {
 public:
  using Compute = std::function<Result<T>()>;
  enum class Source : uint8_t { kFirstTier, kSecondTier, kComputed };
  struct Hit {
    Cached<T> cached;
    Source source;
  };

  // `entries_max`: of the first tier; the oldest goes first.
  TwoTierCache(const Clock& clock, SecondTier<T>& second_tier, size_t entries_max);

  Result<Hit> Get(const std::string& key, std::chrono::milliseconds time_to_live,
                  const Compute& compute) EXCLUDES_LOCK(mutex_);
  // Replaces what is cached, in both tiers, by what `change` makes of it; the time it was cached
  // stays. `change` returns nullopt where nothing is to be changed. Serialised with other Patches
  // of the same key and with what Get stores.
  using Change = std::function<std::optional<T>(const T&)>;
  Status Patch(const std::string& key, const Change& change) EXCLUDES_LOCK(mutex_);
  // Both tiers. What is being computed meanwhile is handed out, but not kept.
  Status Clear() EXCLUDES_LOCK(mutex_);
};

}  // namespace hearth::kit
