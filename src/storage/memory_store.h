#pragma once

#include <memory>

#include "storage/store.h"

namespace hearth::storage {

// A store that keeps everything in memory and loses it when destroyed. For tests of the layers
// above, and as the simplest implementation of the contract. Expired keys are removed by the next
// commit.
std::unique_ptr<Store> NewMemoryStore();

}  // namespace hearth::storage
