#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::kit {

class EventChannel;
class Request;

// An application's response.
struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};  // Names in lower case.
  // Instead of a body: server-sent events until the channel is closed. Shared with the publishers.
  std::shared_ptr<EventChannel> events = {};

  static Response Json(const nlohmann::json& json, int status = 200);
  static Response Events(std::shared_ptr<EventChannel> events);
  static Response Redirect(std::string location);
};

struct CookieOptions {
  std::chrono::seconds max_age{0};  // 0: until the browser closes; negative: deletes it.
  std::string path = "/";
  bool http_only = true;
  bool secure = false;

  // For the application's own pages only, and only over TLS if the request came that way.
  static CookieOptions For(const Request& request, std::chrono::seconds max_age);
};

// A Set-Cookie header, always SameSite=Strict. The value must not contain characters that cookies
// cannot hold.
std::pair<std::string, std::string> SetCookie(std::string_view name, std::string_view value,
                                              const CookieOptions& options);

}  // namespace hearth::kit
