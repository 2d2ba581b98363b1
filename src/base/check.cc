#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace hearth {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "hearth: broken invariant at %s:%d: %s\n", file, line, condition);
  std::abort();
}

}  // namespace hearth
