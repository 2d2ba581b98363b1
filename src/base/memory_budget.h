#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/connected_client.h"
#include "base/fair_share.h"
#include "base/mutex.h"

namespace hearth {

// The memory that all clients of a process may make it hold: request and answer buffers, queued
// work, backlogs, caches, sorts, decoded pictures. Every holder claims its bytes here before it
// allocates them, so the sum has one bound, however the clients divide it.
//
// The last eighth is reserved for small claims. Greedy clients, whose claims are large or grow
// large step by step, leave enough for the ordinary requests of the others.
//
// Memory lasts if its client decides for how long: listeners, sessions, locks, answers that the
// client has not read. No time limit ends that of a client that is only idle. So all of it together
// may use three quarters of the budget and only the first half of the reserve, and clients share
// it. Whatever idle clients hold, there is room for the short work of others.
//
// Threads: safe for concurrent use. Ownership: must outlive its claims.
class MemoryBudget {
 public:
  static constexpr size_t kSmallBytesMax = 64 * 1024;
  // What a client may have of the memory that lasts while there is any: room for some listeners or
  // sessions, and a query that waits.
  static constexpr size_t kLittleBytesMax = 128 * 1024;

  explicit MemoryBudget(size_t bytes_max)
      : bytes_max_(bytes_max), lasting_(bytes_max - bytes_max / 4, kLittleBytesMax) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // Returns false and takes nothing if `bytes` more would exceed the budget, or if a large claim
  // would use the reserve. `held_bytes`: what the same client already has for the same purpose.
  [[nodiscard]] bool TryTake(size_t bytes, size_t held_bytes = 0);
  // Takes bytes that cannot be refused because they are already in use. The sum may exceed the
  // budget; later claims are then refused.
  void Take(size_t bytes) { used_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void Return(size_t bytes);

  // The same for memory of `client` that lasts. Refused also if the client has had its share.
  [[nodiscard]] bool TryTakeLasting(ClientKey client, size_t bytes, size_t held_bytes = 0)
      EXCLUDES_LOCK(mutex_);
  void TakeLasting(ClientKey client, size_t bytes) EXCLUDES_LOCK(mutex_);
  void ReturnLasting(ClientKey client, size_t bytes) EXCLUDES_LOCK(mutex_);

  size_t bytes_max() const { return bytes_max_; }
  size_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  // How many of them last.
  size_t lasting_bytes() const EXCLUDES_LOCK(mutex_);
  // The number of claims refused so far.
  size_t refusals() const { return refusals_.load(std::memory_order_relaxed); }
  // True if large claims are refused now. Work that can wait should then wait.
  bool is_scarce() const { return used_bytes() > bytes_max_ - reserve(); }
  // True if only the half of the reserve that is for short work is left.
  bool is_nearly_used_up() const { return used_bytes() > bytes_max_ - reserve() / 2; }

 private:
  size_t reserve() const { return bytes_max_ / 8; }
  static bool IsLarge(size_t bytes, size_t held_bytes) {
    return held_bytes + bytes > kSmallBytesMax;
  }
  bool TryTakeUpTo(size_t limit, size_t bytes);

  const size_t bytes_max_;
  std::atomic<size_t> used_bytes_ = 0;
  std::atomic<size_t> refusals_ = 0;
  mutable Mutex mutex_;                     // Leaf lock.
  SharedBytes lasting_ GUARDED_BY(mutex_);  // Part of the used bytes.
};

// Bytes claimed from a budget, returned when this is destroyed. A claim on no budget is always
// granted; tests and embedded programs need none. It is short unless it says that it lasts.
//
// Threads: one at a time. Ownership: the budget must outlive it.
class MemoryClaim {
 public:
  MemoryClaim() = default;
  explicit MemoryClaim(MemoryBudget* budget) : budget_(budget) {}
  // Lasts as long as `client` wishes.
  static MemoryClaim Lasting(MemoryBudget* budget, ClientKey client);
  MemoryClaim(MemoryClaim&& other) noexcept
      : budget_(other.budget_),
        lasts_for_(other.lasts_for_),
        bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryClaim& operator=(MemoryClaim&& other) noexcept;
  ~MemoryClaim() { Reset(); }

  size_t bytes() const { return bytes_; }

  // Returns false and changes nothing if the budget refuses.
  [[nodiscard]] bool Grow(size_t bytes);
  // The same, for a claim of one client: all of it counts as one claim, large or small.
  [[nodiscard]] bool Resize(size_t bytes);
  // Claims at least `bytes` in all, if it has less: as much again as it has, so that growing takes
  // few claims, and what becomes large does not use up the reserve in small steps.
  [[nodiscard]] bool Reserve(size_t bytes);
  // From now on it lasts. Returns false and changes nothing if the budget refuses.
  [[nodiscard]] bool MakeLasting(ClientKey client);
  // Never refused: see MemoryBudget::Take.
  void GrowAnyway(size_t bytes);
  void Shrink(size_t bytes);
  void Reset() { Shrink(bytes_); }

 private:
  [[nodiscard]] bool TryTake(size_t bytes, size_t held_bytes);

  MemoryBudget* budget_ = nullptr;
  std::optional<ClientKey> lasts_for_;  // nullopt: it is short.
  size_t bytes_ = 0;
};

}  // namespace hearth
