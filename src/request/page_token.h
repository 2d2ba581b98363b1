#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hearth::request {

// Where a page ended: the last item, and a fingerprint of the request, so that a token is only
// valid for the request that it belongs to.
//
//   token := base64url( fingerprint (4), { length (4), part } … )
std::string EncodePageToken(std::string_view request, const std::vector<std::string>& parts);

// Returns the parts. InvalidArgument if the token does not belong to `request`.
Result<std::vector<std::string>> DecodePageToken(std::string_view token, std::string_view request);

}  // namespace hearth::request
