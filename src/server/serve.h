#pragma once

#include "base/status.h"
#include "server/options.h"

namespace hearth::server {

// Opens the data, serves until SIGTERM or SIGINT, then lets the requests under way finish. A
// second signal ends the process at once.
//
// Errors: whatever keeps the server from starting, in one line for a person to read.
Status Serve(const ServeOptions& options);

// The line on standard output that programs which start Hearth wait for.
void Announce(const http::ListenAddress& address);

}  // namespace hearth::server
