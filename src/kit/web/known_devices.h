#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "kit/web/request.h"
#include "kit/web/session.h"

namespace hearth::kit {

// Browsers in which users have signed in, known by a cookie that outlives the session. It
// authorises nothing, but tells such a browser from others that try to sign in as the same user
// (kit/jobs/sign_in_limits.h).
//
// Threads: safe for concurrent use. Ownership: borrows the signer, whose other tokens must have
// other claims than "kind": "device".
class KnownDevices {
 public:
  static constexpr std::chrono::seconds kLifetime = std::chrono::days(180);

  KnownDevices(const SessionSigner& signer, std::string cookie_name);

  // The id of the request's browser, if `username` has signed in there.
  std::optional<std::string> Find(const Request& request, const std::string& username) const;
  // A header of the response to a sign-in: the cookie. The browser keeps the id that it has.
  std::pair<std::string, std::string> Remember(const Request& request,
                                               const std::string& username) const;

 private:
  const SessionSigner& signer_;
  const std::string cookie_name_;
};

}  // namespace hearth::kit
