// Checks on a request before it is interpreted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "http/exchange.h"
#include "http/percent.h"

namespace hearth::doors::control {

// PermissionDenied for a request that a web page of another origin has made, or could have made by
// DNS rebinding, that is by giving its own name the server's address: pages run beside the server,
// on the user's machine, without the user's consent. InvalidArgument for a change whose body is not
// declared to be JSON: a page cannot send that to another origin without a preflight request, which
// gets no answer here.
Status CheckOrigin(const http::RequestHead& head);

// The parts between the slashes, with their %XX decoded; nullopt if an escape is invalid.
std::optional<std::vector<std::string>> SplitPath(std::string_view path,
                                                  http::PercentDecoding decoding = {});

}  // namespace hearth::doors::control
