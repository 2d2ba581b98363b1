#pragma once

#include <string>
#include <string_view>

#include "base/memory_budget.h"
#include "base/status.h"
#include "doors/rest/bindings.h"
#include "doors/rest/query_parameters.h"

namespace hearth::doors::rest {

// Combines a path, a query and a body into the bytes of the request message. The path takes
// precedence: a name in the body cannot redirect a request. InvalidArgument in Google's words for
// values that do not fit. `claim`, if there is one, grows by the memory that this takes;
// ResourceExhausted if there is not enough.
Result<std::string> MakeRequest(const Match& match, const QueryParameters& parameters,
                                std::string_view body, MemoryClaim* claim = nullptr);

}  // namespace hearth::doors::rest
