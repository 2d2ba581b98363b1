// For tests that try many random or all possible cases. HEARTH_TEST_ROUNDS=few has them try a
// tenth: sanitizers are slow, and what they look for shows in few cases as well. The long run tries
// all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace hearth {

inline bool HasFewTestRounds() {
  const char* wanted = std::getenv("HEARTH_TEST_ROUNDS");
  return wanted && std::string_view(wanted) == "few";
}

// How many of `all` rounds to run: one at least.
inline size_t TestRounds(size_t all) {
  return HasFewTestRounds() ? std::max<size_t>(1, all / 10) : all;
}

// How far to go on from one case to the next. It is a prime, so that few cases are of all kinds.
inline size_t TestStep() { return HasFewTestRounds() ? 11 : 1; }

}  // namespace hearth
