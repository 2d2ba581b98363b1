#pragma once

#include <memory>

#include "storage/store.h"

namespace hearth::storage {

// A store that keeps everything in memory and forgets it when destroyed. For tests of the layers
// above, and as the contract's simplest reading. Expired keys vanish with the next commit.
std::unique_ptr<Store> NewMemoryStore();

}  // namespace hearth::storage
