#include "kit/web/response.h"

#include <algorithm>

#include "base/check.h"
#include "kit/web/request.h"

namespace hearth::kit {
namespace {

// RFC 6265, cookie-octet.
bool IsCookieCharacter(char c) {
  return c > ' ' && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\';
}

}  // namespace

Response Response::Json(const nlohmann::json& json, int status) {
  // Text from outside may not be UTF-8; that must not fail the response.
  return {.status = status,
          .content_type = "application/json; charset=utf-8",
          .body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

Response Response::Events(std::shared_ptr<EventChannel> events) {
  return {.content_type = "text/event-stream", .events = std::move(events)};
}

Response Response::Redirect(std::string location) {
  // 303: after posting a form, the browser fetches the page with GET.
  return {.status = 303, .headers = {{"location", std::move(location)}}};
}

CookieOptions CookieOptions::For(const Request& request, std::chrono::seconds max_age) {
  return {.max_age = max_age, .path = request.cookie_path(), .secure = request.is_secure()};
}

std::pair<std::string, std::string> SetCookie(std::string_view name, std::string_view value,
                                              const CookieOptions& options) {
  CHECK(!name.empty() && std::ranges::all_of(name, IsCookieCharacter) &&
        name.find('=') == std::string_view::npos);
  CHECK(std::ranges::all_of(value, IsCookieCharacter));
  std::string text = std::string(name) + "=" + std::string(value) + "; Path=" + options.path;
  if (options.max_age.count() != 0) {
    text += "; Max-Age=" + std::to_string(std::max<int64_t>(options.max_age.count(), 0));
  }
  if (options.http_only) text += "; HttpOnly";
  if (options.secure) text += "; Secure";
  return {"set-cookie", text + "; SameSite=Strict"};
}

}  // namespace hearth::kit
