#pragma once

#include "base/status.h"
#include "server/options.h"

namespace hearth::server {

// Runs one application on its own port and a database elsewhere, until a signal ends it.
// InvalidArgument for invalid options; other errors if it cannot start.
Status RunApp(const RunAppOptions& options);

// Runs the stand-ins for external services that the applications call, until a signal ends it.
// Errors: as for RunApp.
Status RunSandbox(const RunSandboxOptions& options);

}  // namespace hearth::server
