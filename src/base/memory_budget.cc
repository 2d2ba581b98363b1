#include "base/memory_budget.h"

#include <algorithm>

#include "base/check.h"

namespace hearth {

bool MemoryBudget::TryTake(size_t bytes, size_t held_bytes) {
  const size_t spared = IsLarge(bytes, held_bytes) ? reserve() : 0;
  return TryTakeUpTo(bytes_max_ - spared, bytes);
}

bool MemoryBudget::TryTakeUpTo(size_t limit, size_t bytes) {
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

bool MemoryBudget::TryTakeLasting(ClientKey client, size_t bytes, size_t held_bytes) {
  MutexLock lock(mutex_);
  if (!lasting_.TryTake(client, bytes)) {
    refusals_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  const size_t spared = IsLarge(bytes, held_bytes) ? reserve() : reserve() / 2;
  if (TryTakeUpTo(bytes_max_ - spared, bytes)) return true;
  lasting_.Return(client, bytes);
  return false;
}

void MemoryBudget::TakeLasting(ClientKey client, size_t bytes) {
  Take(bytes);
  MutexLock lock(mutex_);
  lasting_.Take(client, bytes);
}

void MemoryBudget::ReturnLasting(ClientKey client, size_t bytes) {
  Return(bytes);
  MutexLock lock(mutex_);
  lasting_.Return(client, bytes);
}

size_t MemoryBudget::lasting_bytes() const {
  MutexLock lock(mutex_);
  return lasting_.taken();
}

MemoryClaim MemoryClaim::Lasting(MemoryBudget* budget, ClientKey client) {
  MemoryClaim claim(budget);
  claim.lasts_for_ = client;
  return claim;
}

MemoryClaim& MemoryClaim::operator=(MemoryClaim&& other) noexcept {
  if (this != &other) {
    Reset();
    budget_ = other.budget_;
    lasts_for_ = other.lasts_for_;
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

bool MemoryClaim::TryTake(size_t bytes, size_t held_bytes) {
  if (budget_ == nullptr) return true;
  return lasts_for_ ? budget_->TryTakeLasting(*lasts_for_, bytes, held_bytes)
                    : budget_->TryTake(bytes, held_bytes);
}

bool MemoryClaim::Grow(size_t bytes) {
  if (!TryTake(bytes, 0)) return false;
  bytes_ += bytes;
  return true;
}

bool MemoryClaim::Resize(size_t bytes) {
  if (bytes <= bytes_) {
    Shrink(bytes_ - bytes);
    return true;
  }
  if (!TryTake(bytes - bytes_, bytes_)) return false;
  bytes_ = bytes;
  return true;
}

bool MemoryClaim::Reserve(size_t bytes) {
  return bytes <= bytes_ || Resize(std::max(bytes, 2 * bytes_));
}

bool MemoryClaim::MakeLasting(ClientKey client) {
  if (lasts_for_ == client) return true;
  MemoryClaim lasting = Lasting(budget_, client);
  if (!lasting.Resize(bytes_)) return false;
  *this = std::move(lasting);
  return true;
}

void MemoryClaim::GrowAnyway(size_t bytes) {
  bytes_ += bytes;
  if (budget_ == nullptr) return;
  if (lasts_for_) {
    budget_->TakeLasting(*lasts_for_, bytes);
  } else {
    budget_->Take(bytes);
  }
}

void MemoryClaim::Shrink(size_t bytes) {
  CHECK(bytes <= bytes_);
  bytes_ -= bytes;
  if (budget_ == nullptr || bytes == 0) return;
  if (lasts_for_) {
    budget_->ReturnLasting(*lasts_for_, bytes);
  } else {
    budget_->Return(bytes);
  }
}

}  // namespace hearth
