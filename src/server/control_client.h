#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::server {

struct ControlRequest {
  std::string method;
  std::string target;  // A path whose parts are encoded with http::EncodePercent.
  std::string body = {};
};

// What a running server answers, with one request over HTTP/1.1. `server`: "HOST:PORT".
//
// Errors: Unavailable, with the address, when nobody answers there in time; what the server itself
// reports, with its code.
Result<std::string> CallServer(const std::string& server, const ControlRequest& request);

}  // namespace hearth::server
