#pragma once

#include <cstddef>
#include <utility>

#include "base/connected_client.h"
#include "base/memory_budget.h"
#include "base/status.h"
#include "request/listen.h"

namespace hearth::watch {

// Memory that targets hold for as long as they live, or changes until the client has read them: it
// lasts (base/memory_budget.h). Large ones do not use the reserve for small claims, even if they
// grow in small steps.
//
// Threads: one at a time. Ownership: the budget must outlive it.
class WatchMemory {
 public:
  WatchMemory() = default;
  // Null: unlimited.
  WatchMemory(MemoryBudget* budget, ClientKey client)
      : budget_(budget), client_(client), claim_(MemoryClaim::Lasting(budget, client)) {}

  // Returns false and changes nothing if the budget refuses.
  [[nodiscard]] bool Grow(size_t bytes) { return claim_.Resize(claim_.bytes() + bytes); }
  void Shrink(size_t bytes) { claim_.Shrink(bytes); }
  void Reset() { claim_.Reset(); }

  size_t bytes() const { return claim_.bytes(); }
  // Nothing yet, for the same client.
  WatchMemory Another() const { return {budget_, client_}; }

 private:
  MemoryBudget* budget_ = nullptr;
  ClientKey client_ = ClientKey::kInternal;
  MemoryClaim claim_;
};

// Approximate memory use of a target, from its request to its end, without its results.
size_t BytesOf(const request::TargetRequest& request);

// Ends a target that cannot be covered.
Status NoMemoryForTarget();

}  // namespace hearth::watch
