#pragma once

#include <string>

#include "base/status.h"
#include "server/options.h"

namespace hearth::server {

// Runs one application, with the port to itself, on a database elsewhere, until a signal ends it.
// InvalidArgument for options that make no sense; whatever keeps it from starting.
Status RunApp(const RunAppOptions& options);

// Runs the stand-ins for the services that the applications call, until a signal ends it.
Status RunSandbox(const std::string& listen);

}  // namespace hearth::server
