#pragma once

#include "base/status.h"

namespace hearth {

// The HTTP status of a code, such as 404 for kNotFound, from google.rpc.Code's table.
int HttpStatusOf(Code code);

}  // namespace hearth
