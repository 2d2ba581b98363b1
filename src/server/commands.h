// The commands that ask a running server. Each returns what is to be printed.
#pragma once

#include <string>

#include "base/status.h"

namespace hearth::server {

// Which database of which server.
struct TargetOptions {
  std::string server = "127.0.0.1:8080";
  std::string project;   // Empty: the only one that there is.
  std::string database;  // Empty: "(default)", or the only one that there is.
};

struct TtlOptions {
  std::string collection;
  std::string field;
  std::string offset = "0s";
};

// Errors: Unavailable when no server answers; NotFound, with the choices, when it is not clear
// which database is meant; and what the server reports.
Result<std::string> ListIndexes(const TargetOptions& target);
Result<std::string> PrintNeededIndexes(const TargetOptions& target);
Result<std::string> ListTtlPolicies(const TargetOptions& target);
Result<std::string> SetTtlPolicy(const TargetOptions& target, const TtlOptions& policy);
Result<std::string> ClearTtlPolicy(const TargetOptions& target, const std::string& collection);

}  // namespace hearth::server
