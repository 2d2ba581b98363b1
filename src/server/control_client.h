#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::server {

struct ControlRequest {
  std::string method;
  std::string target;  // A path whose segments are encoded with http::EncodePercent.
  std::string body = {};
  std::string admin_token = {};  // Empty: none is sent.
};

// A running server's response to one request over HTTP/1.1. `server`: "HOST:PORT".
//
// Errors: Unavailable, with the address, if there is no answer in time; errors reported by the
// server, with their code.
Result<std::string> CallServer(const std::string& server, const ControlRequest& request);

}  // namespace hearth::server
