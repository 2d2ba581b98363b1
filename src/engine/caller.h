#pragma once

#include <stop_token>

#include "base/connected_client.h"

namespace hearth::engine {

// On whose behalf the engine works.
struct Caller {
  // Clients take turns.
  ClientKey client = ClientKey::kInternal;
  // Requested once the caller has left: the work then ends with Cancelled, soon and whatever it
  // waits for. The request itself is a call to the engine.
  std::stop_token left = {};
};

}  // namespace hearth::engine
