// The projects whose databases only the administrator may use: a file in the data folder.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace hearth::access {

// One project id per line; empty lines do not count.
inline constexpr char kProtectedProjectsFile[] = "protected-projects";

// The protected projects of the data folder `folder`. Those of `more` are added to its file, so
// that later starts protect them too, however they are made. An owner removes a project by editing
// the file.
//
// Errors: InvalidArgument for a project of `more` that is not a project id. FailedPrecondition if
// the file contains anything else, or cannot be read or written: nothing is served then that should
// be protected.
Result<std::vector<std::string>> RememberProtectedProjects(const std::string& folder,
                                                           const std::vector<std::string>& more);

}  // namespace hearth::access
