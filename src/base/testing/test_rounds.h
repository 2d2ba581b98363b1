// For tests that try many random cases, or all possible ones. With HEARTH_TEST_ROUNDS=few they try
// a tenth of them: sanitizers are slow, and their findings show up in few cases as well. The long
// run tries all cases.
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

// How many of `all` rounds to run: at least one.
inline size_t TestRounds(size_t all) {
  return HasFewTestRounds() ? std::max<size_t>(1, all / 10) : all;
}

// The stride from one case to the next. It is a prime, so that a few cases still cover all kinds.
inline size_t TestStep() { return HasFewTestRounds() ? 11 : 1; }

}  // namespace hearth
