#include "kit/web/request.h"

#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "http/percent.h"

namespace hearth::kit {
namespace {

// Text that cannot be decoded is returned unchanged: the caller rejects the value.
std::string DecodeForm(std::string_view text) {
  std::optional<std::string> decoded = http::DecodePercent(text, {.plus_is_space = true});
  return decoded ? std::move(*decoded) : std::string(text);
}

std::optional<std::string> FindCookie(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    std::string_view value = Trim(TakeUntil(header, ';'), " ");
    if (TakeUntil(value, '=') != name) continue;
    if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"')) {
      value = value.substr(1, value.size() - 2);
    }
    return std::string(value);
  }
  return std::nullopt;
}

}  // namespace

Request::Request(http::RequestHead head, std::string body, std::string path, std::string peer,
                 std::string mount_path)
    : head_(std::move(head)),
      body_(std::move(body)),
      path_(std::move(path)),
      peer_(std::move(peer)),
      mount_path_(std::move(mount_path)) {}

const std::string& Request::Parameter(std::string_view name) const {
  const auto found = parameters_.find(name);
  CHECK(found != parameters_.end());
  return found->second;
}

bool Request::is_secure() const {
  return head_.scheme() == "https" || head_.Find("origin").value_or("").starts_with("https://");
}

std::optional<std::string> Request::Query(std::string_view name) const {
  std::string_view rest = head_.query();
  while (!rest.empty()) {
    std::string_view value = TakeUntil(rest, '&');
    const std::string_view key = TakeUntil(value, '=');
    if (DecodeForm(key) == name) return DecodeForm(value);
  }
  return std::nullopt;
}

std::optional<std::string> Request::Cookie(std::string_view name) const {
  // HTTP/2 clients may send every cookie in its own field.
  for (size_t i = 0; i < head_.header_count(); ++i) {
    const http::Header header = head_.header(i);
    if (header.name != "cookie") continue;
    if (std::optional<std::string> value = FindCookie(header.value, name)) return value;
  }
  return std::nullopt;
}

}  // namespace hearth::kit
