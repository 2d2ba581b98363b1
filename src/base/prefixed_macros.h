// Macros that pass failures on, for programs that use the client: the names cannot collide with
// theirs. Our own code uses the short names in status_macros.h.
#pragma once

#include <utility>

#include "base/status.h"

#define HEARTH_RETURN_IF_ERROR(expr)                          \
  do {                                                        \
    if (::hearth::Status st_ = (expr); !st_.ok()) return st_; \
  } while (false)

#define HEARTH_CAT2_(a, b) a##b
#define HEARTH_CAT_(a, b) HEARTH_CAT2_(a, b)
#define HEARTH_ASSIGN_OR_RETURN(lhs, expr) \
  HEARTH_ASSIGN_OR_RETURN_(HEARTH_CAT_(result_, __LINE__), lhs, expr)
#define HEARTH_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return tmp.status();            \
  lhs = *std::move(tmp)
