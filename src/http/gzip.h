#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::http {

// What `compressed` (a whole gzip stream) unfolds to. ResourceExhausted as soon as that exceeds
// `bytes_max`, so a small bomb stays small; Internal when it is not gzip or ends early.
Result<std::string> Gunzip(std::string_view compressed, size_t bytes_max);

// The gzip form of `plain`.
std::string Gzip(std::string_view plain);

}  // namespace hearth::http
