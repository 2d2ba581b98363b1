// For tests: when they happen.
#pragma once

#include <cstdint>

namespace hearth {

inline constexpr int64_t kTestStartMicros = 1'700'000'000'000'000;

}  // namespace hearth
