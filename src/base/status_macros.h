// Macros that pass failures on. Separate from status.h, so that the headers of the C++ client
// define no short names.
#pragma once

#include "base/prefixed_macros.h"

#define RETURN_IF_ERROR(expr) HEARTH_RETURN_IF_ERROR(expr)
#define ASSIGN_OR_RETURN(lhs, expr) HEARTH_ASSIGN_OR_RETURN(lhs, expr)
