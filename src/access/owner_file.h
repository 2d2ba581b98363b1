#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::access {

// Writes the file `name` in `folder`, which is created if need be; replaces an existing one. The
// file is readable by its owner only, durable on return, and complete even after a crash.
//
// Errors: FailedPrecondition, with the path.
Status WriteOwnerFile(const std::string& folder, const std::string& name, std::string_view content);

}  // namespace hearth::access
