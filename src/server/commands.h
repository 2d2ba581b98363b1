// The commands that query a running server. Each returns the text to print.
#pragma once

#include <string>

#include "base/status.h"

namespace hearth::server {

// Selects a server and a database.
struct TargetOptions {
  std::string server = "127.0.0.1:8080";
  std::string project;    // Empty: the only one.
  std::string database;   // Empty: "(default)", or the only one.
  std::string data_path;  // That of the server, for its token; empty: "data" for a local server.
};

// The database to delete.
struct DatabaseOptions {
  std::string project;
  std::string database;
};

struct TtlOptions {
  std::string collection;
  std::string field;
  std::string offset = "0s";
};

// The token to send to a server: from the environment if it has one, else from the file in
// `folder`. Empty if there is none.
Result<std::string> FindAdminToken(const std::string& folder);

// Errors: Unavailable if no server answers; NotFound, with the choices, if the database is
// ambiguous; errors reported by the server.
Result<std::string> ListDatabases(const TargetOptions& target);
Result<std::string> DeleteDatabase(const TargetOptions& target, const DatabaseOptions& database);
Result<std::string> ListIndexes(const TargetOptions& target);
Result<std::string> PrintNeededIndexes(const TargetOptions& target);
Result<std::string> ListTtlPolicies(const TargetOptions& target);
Result<std::string> SetTtlPolicy(const TargetOptions& target, const TtlOptions& policy);
Result<std::string> ClearTtlPolicy(const TargetOptions& target, const std::string& collection);

}  // namespace hearth::server
