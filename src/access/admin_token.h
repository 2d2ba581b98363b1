// The administrator's token: a file in the data folder that only the server's owner can read.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.h"

namespace hearth::access {

inline constexpr size_t kAdminTokenBytes = 32;  // Random ones; the file has two digits for each.
inline constexpr char kAdminTokenFile[] = "admin.token";
inline constexpr char kAdminTokenVariable[] = "HEARTH_ADMIN_TOKEN";

// The token of the data folder `folder`. At the first call it is created, readable by its owner
// only and complete even after a crash; so is the folder.
//
// Errors: FailedPrecondition if the file does not contain a token, if others may read it, or if it
// cannot be read or written.
Result<std::string> LoadOrCreateAdminToken(const std::string& folder);

// The token in `folder`, for a program that uses the server. NotFound if there is no such file;
// otherwise the errors of LoadOrCreateAdminToken.
Result<std::string> ReadAdminToken(const std::string& folder);

}  // namespace hearth::access
