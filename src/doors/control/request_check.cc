#include "doors/control/request_check.h"

#include <utility>

#include "base/text.h"

namespace hearth::doors::control {
namespace {

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
