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

// PermissionDenied for a request that a web page of another origin has made, even of one that may
// use the database: only pages of this server have to do with its operation. The server has already
// checked the host (`http/origin_policy.h`). InvalidArgument for a change whose body is not
// declared to be JSON: a page cannot send that to another origin without a preflight request, which
// gets no answer here.
Status CheckOrigin(const http::RequestHead& head);

// The parts between the slashes, with their %XX decoded; nullopt if an escape is invalid.
std::optional<std::vector<std::string>> SplitPath(std::string_view path,
                                                  http::PercentDecoding decoding = {});

}  // namespace hearth::doors::control
