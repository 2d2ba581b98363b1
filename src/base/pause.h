#pragma once

#include <functional>

#include "base/status.h"

namespace hearth {

// Long work calls this often, so that others get their turn and nobody works for a client that has
// left. An error ends the work. Null: there is nobody to give way to.
using PauseFunction = std::function<Status()>;

}  // namespace hearth
