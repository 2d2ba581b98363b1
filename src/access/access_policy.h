#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "http/exchange.h"
#include "model/names.h"

namespace hearth::access {

// Decides which clients may use a database, and which may operate the server. A client is the
// administrator if it sends the token: "Authorization: Bearer TOKEN".
//
// Threads: immutable. Errors: PermissionDenied, with a message that tells an owner what to do.
class AccessPolicy {
 public:
  // `admin_token`: not empty. `protected_projects`: only the administrator may use their databases.
  AccessPolicy(std::string admin_token, std::vector<std::string> protected_projects);

  Status CheckDatabase(const http::RequestHead& head, const model::DatabaseName& database) const;
  // For requests about the server as a whole.
  Status CheckAdministrator(const http::RequestHead& head) const;

 private:
  bool IsAdministrator(const http::RequestHead& head) const;

  const std::string admin_token_;
  const std::vector<std::string> protected_projects_;
};

}  // namespace hearth::access
