#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/status_macros.h"

namespace hearth::kit {

// A value and when it was computed. Promotion to another tier keeps the time, so that no entry
// outlives its time-to-live.
template <typename T>
struct Cached {
  std::shared_ptr<const T> value;  // Shared by the cache and its readers.
  int64_t cached_at_ms;            // Since the epoch.
};

// Storage of a cache that survives the process. Threads: safe for concurrent use.
template <typename T>
class SecondTier {
 public:
  virtual ~SecondTier() = default;

  virtual Result<std::optional<Cached<T>>> Load(const std::string& key) = 0;
  virtual Status Store(const std::string& key, const Cached<T>& cached) = 0;
  virtual Status Clear() = 0;
};

// A cache for values that are expensive to compute: looks in memory, then in the second tier, then
// computes. Concurrent misses of a key compute it once (single flight); the others wait.
// || Failures of the second tier count as misses: the cache never causes an error. A value's time
// is when its computation began, so it is never older than its time says.
//
// Threads: safe for concurrent use; `compute` and `change` run without a lock and must not access
// the same key. Ownership: borrows the clock and the second tier. Errors: those of `compute`, to
// all callers that waited; nothing is cached then.
template <typename T>
class TwoTierCache {
 public:
  using Compute = std::function<Result<T>()>;
  enum class Source : uint8_t { kFirstTier, kSecondTier, kComputed };
  struct Hit {
    Cached<T> cached;
    Source source;
  };

  // `entries_max`: of the first tier; the oldest is evicted first.
  TwoTierCache(const Clock& clock, SecondTier<T>& second_tier, size_t entries_max)
      : clock_(clock), second_tier_(second_tier), entries_max_(entries_max) {}

  Result<Hit> Get(const std::string& key, std::chrono::milliseconds time_to_live,
                  const Compute& compute) EXCLUDES_LOCK(mutex_);
  // Replaces the cached value, in both tiers, with the result of `change`; its time stays. `change`
  // returns nullopt to leave it unchanged. Serialised with other Patches of the same key and with
  // the stores of Get: a value that is being computed is changed once it is there. Returns the
  // second tier's error; the first tier is changed even then.
  using Change = std::function<std::optional<T>(const T&)>;
  Status Patch(const std::string& key, const Change& change) EXCLUDES_LOCK(mutex_);
  // Clears both tiers. A value that is being computed is returned to its callers but not cached.
  // Returns the second tier's error; the first tier is empty even then.
  Status Clear() EXCLUDES_LOCK(mutex_);

 private:
  // How far another machine's clock, or this one's before it was set, may be ahead.
  static constexpr int64_t kClockSkewMaxMs = 60'000;

  // The right to fill or change a key, held by one thread at a time.
  struct Turn {
    std::optional<Result<Hit>> result;  // Set once known; only for a Get.
    bool is_over = false;
    bool is_stale = false;  // The cache was cleared since: nothing may be stored.
  };
  using SharedTurn = std::shared_ptr<Turn>;  // Shared by the holder and the waiters.

  // Ends a turn, even if `compute` or `change` throws.
  class TurnHolder {
   public:
    TurnHolder(TwoTierCache& cache, const std::string& key, SharedTurn turn)
        : cache_(cache), key_(key), turn_(std::move(turn)) {}
    ~TurnHolder() { cache_.EndTurn(key_, *turn_); }
    TurnHolder(const TurnHolder&) = delete;
    TurnHolder& operator=(const TurnHolder&) = delete;

   private:
    TwoTierCache& cache_;
    const std::string& key_;
    const SharedTurn turn_;
  };

  int64_t NowMs() const { return clock_.WallMicros() / 1'000; }
  bool IsFresh(const Cached<T>& cached, std::chrono::milliseconds time_to_live) const {
    const int64_t age_ms = NowMs() - cached.cached_at_ms;
    return age_ms < time_to_live.count() && age_ms >= -kClockSkewMaxMs;
  }

  // Waits until the turn of `key` is free.
  SharedTurn TakeTurn(const std::string& key) EXCLUDES_LOCK(mutex_);
  void EndTurn(const std::string& key, Turn& turn) EXCLUDES_LOCK(mutex_);
  Result<Hit> Fill(const std::string& key, std::chrono::milliseconds time_to_live,
                   const Compute& compute, Turn& turn) EXCLUDES_LOCK(mutex_);
  std::optional<Cached<T>> LoadFresh(const std::string& key,
                                     std::chrono::milliseconds time_to_live);
  // Stores unless the turn is stale. Clear waits for stores in progress.
  Status StoreSecond(const std::string& key, const Cached<T>& cached, const Turn& turn)
      EXCLUDES_LOCK(mutex_);
  void PublishLocked(const std::string& key, Turn& turn, Result<Hit> result) REQUIRES_LOCK(mutex_);
  void KeepLocked(const std::string& key, const Cached<T>& cached) REQUIRES_LOCK(mutex_);

  const Clock& clock_;
  SecondTier<T>& second_tier_;
  const size_t entries_max_;

  Mutex mutex_;      // Leaf lock.
  CondVar changed_;  // Signals a result, or the end of a turn, a store or Clear.
  std::map<std::string, Cached<T>> entries_ GUARDED_BY(mutex_);
  std::set<std::pair<int64_t, std::string>> by_age_ GUARDED_BY(mutex_);  // Index of entries_.
  std::map<std::string, SharedTurn> turns_ GUARDED_BY(mutex_);
  size_t stores_under_way_ GUARDED_BY(mutex_) = 0;
  bool is_clearing_ GUARDED_BY(mutex_) = false;
};

template <typename T>
Result<typename TwoTierCache<T>::Hit> TwoTierCache<T>::Get(const std::string& key,
                                                           std::chrono::milliseconds time_to_live,
                                                           const Compute& compute) {
  SharedTurn turn;
  {
    MutexLock lock(mutex_);
    while (true) {
      const auto entry = entries_.find(key);
      if (entry != entries_.end() && IsFresh(entry->second, time_to_live)) {
        return Hit{entry->second, Source::kFirstTier};
      }
      const auto other = turns_.find(key);
      if (other == turns_.end() && !is_clearing_) break;
      if (other == turns_.end()) {
        changed_.Wait(mutex_);
        continue;
      }
      const SharedTurn awaited = other->second;
      // A turn continues after its result is known, while the result is stored.
      while (!awaited->result && !awaited->is_over) changed_.Wait(mutex_);
      // No result: it was a Patch, or a Get that threw.
      if (!awaited->result) continue;
      const Result<Hit>& result = *awaited->result;
      if (!result.ok() || IsFresh(result->cached, time_to_live)) return result;
      while (!awaited->is_over) changed_.Wait(mutex_);
    }
    turn = std::make_shared<Turn>();
    turns_[key] = turn;
  }
  const TurnHolder holder(*this, key, turn);
  return Fill(key, time_to_live, compute, *turn);
}

template <typename T>
Result<typename TwoTierCache<T>::Hit> TwoTierCache<T>::Fill(const std::string& key,
                                                            std::chrono::milliseconds time_to_live,
                                                            const Compute& compute, Turn& turn) {
  if (const std::optional<Cached<T>> loaded = LoadFresh(key, time_to_live)) {
    const Hit hit{*loaded, Source::kSecondTier};
    MutexLock lock(mutex_);
    PublishLocked(key, turn, hit);
    return hit;
  }
  const int64_t cached_at_ms = NowMs();
  Result<T> computed = compute();
  if (!computed.ok()) {
    MutexLock lock(mutex_);
    PublishLocked(key, turn, computed.status());
    return computed.status();
  }
  const Hit hit{{std::make_shared<const T>(*std::move(computed)), cached_at_ms}, Source::kComputed};
  {
    MutexLock lock(mutex_);
    PublishLocked(key, turn, hit);
  }
  IgnoreError(StoreSecond(key, hit.cached, turn), "the next process computes it again");
  return hit;
}

template <typename T>
Status TwoTierCache<T>::Patch(const std::string& key, const Change& change) {
  const SharedTurn turn = TakeTurn(key);
  const TurnHolder holder(*this, key, turn);
  std::optional<Cached<T>> first;
  {
    MutexLock lock(mutex_);
    if (const auto entry = entries_.find(key); entry != entries_.end()) first = entry->second;
  }
  std::optional<Cached<T>> changed_first;
  if (first) {
    if (std::optional<T> value = change(*first->value)) {
      changed_first = Cached<T>{std::make_shared<const T>(*std::move(value)), first->cached_at_ms};
      MutexLock lock(mutex_);
      if (!turn->is_stale && entries_.contains(key)) entries_[key] = *changed_first;
    }
  }
  ASSIGN_OR_RETURN(const std::optional<Cached<T>> second, second_tier_.Load(key));
  if (!second) return Status();
  // Equal times mean the same value.
  if (changed_first && changed_first->cached_at_ms == second->cached_at_ms) {
    return StoreSecond(key, *changed_first, *turn);
  }
  std::optional<T> value = change(*second->value);
  if (!value) return Status();
  return StoreSecond(key, {std::make_shared<const T>(*std::move(value)), second->cached_at_ms},
                     *turn);
}

template <typename T>
Status TwoTierCache<T>::Clear() {
  {
    MutexLock lock(mutex_);
    while (is_clearing_) changed_.Wait(mutex_);
    is_clearing_ = true;
    entries_.clear();
    by_age_.clear();
    for (const auto& [key, turn] : turns_) turn->is_stale = true;
    // Later callers do not wait for earlier computations.
    turns_.clear();
    changed_.NotifyAll();
    while (stores_under_way_ > 0) changed_.Wait(mutex_);
  }
  const Status cleared = second_tier_.Clear();
  MutexLock lock(mutex_);
  is_clearing_ = false;
  changed_.NotifyAll();
  return cleared;
}

template <typename T>
typename TwoTierCache<T>::SharedTurn TwoTierCache<T>::TakeTurn(const std::string& key) {
  MutexLock lock(mutex_);
  while (turns_.contains(key) || is_clearing_) changed_.Wait(mutex_);
  auto turn = std::make_shared<Turn>();
  turns_[key] = turn;
  return turn;
}

template <typename T>
void TwoTierCache<T>::EndTurn(const std::string& key, Turn& turn) {
  MutexLock lock(mutex_);
  turn.is_over = true;
  // After Clear the turn of the key may belong to another thread.
  const auto current = turns_.find(key);
  if (current != turns_.end() && current->second.get() == &turn) turns_.erase(current);
  changed_.NotifyAll();
}

template <typename T>
std::optional<Cached<T>> TwoTierCache<T>::LoadFresh(const std::string& key,
                                                    std::chrono::milliseconds time_to_live) {
  Result<std::optional<Cached<T>>> loaded = second_tier_.Load(key);
  if (!loaded.ok() || !loaded->has_value() || !IsFresh(**loaded, time_to_live)) return std::nullopt;
  return *std::move(loaded);
}

template <typename T>
Status TwoTierCache<T>::StoreSecond(const std::string& key, const Cached<T>& cached,
                                    const Turn& turn) {
  {
    MutexLock lock(mutex_);
    if (turn.is_stale) return Status();
    ++stores_under_way_;
  }
  const Status stored = second_tier_.Store(key, cached);
  MutexLock lock(mutex_);
  --stores_under_way_;
  changed_.NotifyAll();
  return stored;
}

template <typename T>
void TwoTierCache<T>::PublishLocked(const std::string& key, Turn& turn, Result<Hit> result) {
  if (result.ok() && !turn.is_stale) KeepLocked(key, result->cached);
  turn.result = std::move(result);
  changed_.NotifyAll();
}

template <typename T>
void TwoTierCache<T>::KeepLocked(const std::string& key, const Cached<T>& cached) {
  if (entries_max_ == 0) return;
  if (const auto old = entries_.find(key); old != entries_.end()) {
    by_age_.erase({old->second.cached_at_ms, key});
    entries_.erase(old);
  }
  if (entries_.size() == entries_max_) {
    entries_.erase(by_age_.begin()->second);
    by_age_.erase(by_age_.begin());
  }
  entries_.emplace(key, cached);
  by_age_.emplace(cached.cached_at_ms, key);
}

}  // namespace hearth::kit
