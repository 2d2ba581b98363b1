#pragma once

#include <functional>

#include "base/connected_client.h"

namespace hearth::engine {

// On whose behalf the engine works.
struct Caller {
  // Clients take turns.
  ClientKey client = ClientKey::kInternal;
  // Polled from time to time, on any thread: once it returns true, the work ends with Cancelled.
  // Null: never.
  std::function<bool()> is_cancelled = {};
};

}  // namespace hearth::engine
