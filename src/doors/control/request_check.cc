#include "doors/control/request_check.h"

#include <utility>

#include "base/text.h"

namespace hearth::doors::control {
namespace {

// "[::1]:8080" to "[::1]".
std::string_view HostOf(std::string_view authority) {
  const size_t colon = authority.rfind(':');
  const size_t bracket = authority.rfind(']');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || bracket < colon);
  return has_port ? authority.substr(0, colon) : authority;
}

bool IsAddressOfThisMachine(std::string_view host) {
  if (host == "[::1]" || EqualsIgnoringCase(host, "localhost")) return true;
  // A host name may also start with these characters, so the rest is checked too.
  return host.starts_with("127.") &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool IsJson(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  return EqualsIgnoringCase(type, "application/json");
}

}  // namespace

Status CheckOrigin(const http::RequestHead& head) {
  const auto denied = [](std::string message) {
    return Status(Code::kPermissionDenied, std::move(message));
  };
  if (!IsAddressOfThisMachine(HostOf(head.authority()))) {
    return denied("this only answers requests to localhost, 127.0.0.1 or [::1]");
  }
  const std::optional<std::string_view> origin = head.Find("origin");
  if (origin && !EqualsIgnoringCase(*origin, "http://" + std::string(head.authority())) &&
      !EqualsIgnoringCase(*origin, "https://" + std::string(head.authority()))) {
    return denied("web pages of other origins may not use this");
  }
  const std::string_view site = head.Find("sec-fetch-site").value_or("none");
  if (site != "none" && site != "same-origin") {
    return denied("web pages of other origins may not use this");
  }
  const bool is_reading = head.method() == "GET" || head.method() == "HEAD";
  if (!is_reading && !IsJson(head.Find("content-type").value_or(""))) {
    return InvalidArgument("a change must have the header 'content-type: application/json'");
  }
  return Status();
}

std::optional<std::vector<std::string>> SplitPath(std::string_view path,
                                                  http::PercentDecoding decoding) {
  std::vector<std::string> parts;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const size_t slash = path.find('/');
    std::optional<std::string> part = http::DecodePercent(path.substr(0, slash), decoding);
    if (!part) return std::nullopt;
    parts.push_back(*std::move(part));
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace hearth::doors::control
