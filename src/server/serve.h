#pragma once

#include "base/status.h"
#include "server/options.h"

namespace hearth::server {

// Opens the data, serves until SIGTERM or SIGINT, then lets requests in progress finish. A second
// signal ends the process at once.
//
// Errors: if the server cannot start, with a one-line message for the user.
Status Serve(const ServeOptions& options);

// Prints the line on standard output that programs which start Hearth wait for.
void Announce(const http::ListenAddress& address);

}  // namespace hearth::server
