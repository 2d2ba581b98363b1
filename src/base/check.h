// CHECK(condition): aborts the process if one of our own invariants is broken, also in release
// builds. Never used for errors that a caller or the environment can cause.
#pragma once

namespace hearth {

[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace hearth

#define CHECK(condition)                                     \
  do {                                                       \
    if (!(condition)) [[unlikely]]                           \
      ::hearth::CheckFailed(#condition, __FILE__, __LINE__); \
  } while (false)
