#pragma once

#include "base/status.h"

namespace hearth {

// 404 for kNotFound, and so on: google.rpc.Code's table.
int HttpStatusOf(Code code);

}  // namespace hearth
