// For tests: when they happen.
#pragma once

#include <cstdint>

namespace hearth::engine {

inline constexpr int64_t kTestStartMicros = 1'700'000'000'000'000;

}  // namespace hearth::engine
