#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::http {

// Decompresses `compressed`, a whole gzip stream. ResourceExhausted as soon as the output exceeds
// `bytes_max`, so a decompression bomb stays small; Internal if it is not gzip or is truncated.
Result<std::string> Gunzip(std::string_view compressed, size_t bytes_max);

// The gzip form of `plain`.
std::string Gzip(std::string_view plain);

}  // namespace hearth::http
