// What a request must be before anybody looks at what it wants.
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
// giving its own name the server's address: pages run beside the server, on the user's machine, and
// nobody has asked the user. InvalidArgument for a change whose body is not declared to be JSON: a
// page cannot send that elsewhere without asking first, and is not answered when it asks.
Status CheckOrigin(const http::RequestHead& head);

// The parts between the slashes, with their %XX decoded; nullopt when one of those is no byte.
std::optional<std::vector<std::string>> SplitPath(std::string_view path,
                                                  http::PercentDecoding decoding = {});

}  // namespace hearth::doors::control
