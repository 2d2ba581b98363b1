// For tests: the time at which they take place.
#pragma once

#include <cstdint>

namespace hearth {

inline constexpr int64_t kTestStartMicros = 1'700'000'000'000'000;

}  // namespace hearth
