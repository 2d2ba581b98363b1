#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "doors/rest/bindings.h"
#include "doors/rest/query_parameters.h"

namespace hearth::doors::rest {

// The bytes of the request message that a path, a query and a body make together. The path has
// the last word: a name in the body cannot lead a request elsewhere. InvalidArgument in Google's
// words for what does not fit.
Result<std::string> MakeRequest(const Match& match, const QueryParameters& parameters,
                                std::string_view body);

}  // namespace hearth::doors::rest
