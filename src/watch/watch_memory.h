#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/memory_budget.h"
#include "base/status.h"
#include "request/listen.h"

namespace hearth::watch {

// Memory that targets hold for as long as they live, or changes until the client has read them.
// Large ones do not use the reserve for small claims, even if they grow in small steps; nor do the
// targets of a stream that has many.
//
// Threads: one at a time. Ownership: the budget must outlive it.
class WatchMemory {
 public:
  enum class Reserve : uint8_t { kMayUse, kMayNotUse };

  WatchMemory() = default;
  // Null: unlimited.
  WatchMemory(MemoryBudget* budget, Reserve reserve)
      : budget_(budget), reserve_(reserve), claim_(budget) {}

  // Returns false and changes nothing if the budget refuses.
  [[nodiscard]] bool Grow(size_t bytes) {
    const bool is_small =
        reserve_ == Reserve::kMayUse && claim_.bytes() + bytes <= MemoryBudget::kSmallBytesMax;
    if (!is_small && budget_ != nullptr && budget_->is_scarce()) return false;
    return claim_.Grow(bytes);
  }
  void Shrink(size_t bytes) { claim_.Shrink(bytes); }
  void Reset() { claim_.Reset(); }

  size_t bytes() const { return claim_.bytes(); }
  // Nothing yet, under the same conditions.
  WatchMemory Another() const { return {budget_, reserve_}; }

 private:
  MemoryBudget* budget_ = nullptr;
  Reserve reserve_ = Reserve::kMayUse;
  MemoryClaim claim_;
};

// Approximate memory use of a target, from its request to its end, without its results.
size_t BytesOf(const request::TargetRequest& request);

// Ends a target that cannot be covered.
Status NoMemoryForTarget();

}  // namespace hearth::watch
