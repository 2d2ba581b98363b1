#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/memory_budget.h"
#include "base/status.h"

namespace hearth::http {

// Decompresses `compressed`, a whole gzip stream. `claim`, if there is one, grows with the output.
// ResourceExhausted as soon as the output exceeds `bytes_max` or the memory (NoMemoryToDecompress),
// so a decompression bomb stays small; Internal if it is not gzip or is truncated.
Result<std::string> Gunzip(std::string_view compressed, size_t bytes_max,
                           MemoryClaim* claim = nullptr);

Status NoMemoryToDecompress();

// The gzip form of `plain`.
std::string Gzip(std::string_view plain);

}  // namespace hearth::http
