// For tests: the current time, in seconds.
#pragma once

#include <cstdint>

namespace hearth::sandbox {

inline constexpr int64_t kNow = 1'790'000'000;  // In September 2026.

}  // namespace hearth::sandbox
