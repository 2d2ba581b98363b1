// CHECK(condition): ends the process when one of our own invariants is broken, also in release
// builds. Never used on what a caller or the environment can cause.
#pragma once

namespace hearth {

[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace hearth

#define CHECK(condition)                                     \
  do {                                                       \
    if (!(condition)) [[unlikely]]                           \
      ::hearth::CheckFailed(#condition, __FILE__, __LINE__); \
  } while (false)
