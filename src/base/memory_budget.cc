#include "base/memory_budget.h"

#include <algorithm>

#include "base/check.h"

namespace hearth {

bool MemoryBudget::TryTake(size_t bytes, size_t held_bytes) {
  const size_t limit = held_bytes + bytes > kSmallBytesMax ? bytes_max_ - reserve() : bytes_max_;
  size_t used = used_bytes_.load(std::memory_order_relaxed);
  while (true) {
    if (used > limit || bytes > limit - used) {
      refusals_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    if (used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed)) {
      return true;
    }
  }
}

void MemoryBudget::Return(size_t bytes) {
  const size_t before = used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  CHECK(before >= bytes);
}

MemoryClaim& MemoryClaim::operator=(MemoryClaim&& other) noexcept {
  if (this != &other) {
    Reset();
    budget_ = other.budget_;
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

bool MemoryClaim::Grow(size_t bytes) {
  if (budget_ != nullptr && !budget_->TryTake(bytes)) return false;
  bytes_ += bytes;
  return true;
}

bool MemoryClaim::Resize(size_t bytes) {
  if (bytes <= bytes_) {
    Shrink(bytes_ - bytes);
    return true;
  }
  if (budget_ != nullptr && !budget_->TryTake(bytes - bytes_, bytes_)) return false;
  bytes_ = bytes;
  return true;
}

bool MemoryClaim::Reserve(size_t bytes) {
  return bytes <= bytes_ || Resize(std::max(bytes, 2 * bytes_));
}

void MemoryClaim::GrowAnyway(size_t bytes) {
  if (budget_ != nullptr) budget_->Take(bytes);
  bytes_ += bytes;
}

void MemoryClaim::Shrink(size_t bytes) {
  CHECK(bytes <= bytes_);
  if (budget_ != nullptr && bytes > 0) budget_->Return(bytes);
  bytes_ -= bytes;
}

}  // namespace hearth
