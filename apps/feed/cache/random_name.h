#pragma once

#include <cstdio>
#include <string>

#include "base/random.h"

namespace hearth::feed {

// A unique name: 128 random bits in hexadecimal.
inline std::string RandomName(RandomSource& random) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(random.Next()),
                static_cast<unsigned long long>(random.Next()));
  return text;
}

}  // namespace hearth::feed
