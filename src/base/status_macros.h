// Passing failures on. Apart from status.h, so that the headers of the C++ client define no macros.
#pragma once

#include <utility>

#include "base/status.h"

#define RETURN_IF_ERROR(expr)                                 \
  do {                                                        \
    if (::hearth::Status st_ = (expr); !st_.ok()) return st_; \
  } while (false)

#define HEARTH_CAT2_(a, b) a##b
#define HEARTH_CAT_(a, b) HEARTH_CAT2_(a, b)
#define ASSIGN_OR_RETURN(lhs, expr) ASSIGN_OR_RETURN_(HEARTH_CAT_(result_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                      \
  if (!tmp.ok()) return tmp.status();     \
  lhs = *std::move(tmp)
