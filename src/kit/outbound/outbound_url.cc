#include "kit/outbound/outbound_url.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "base/status_macros.h"

namespace hearth::kit {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using UrlHandle = std::unique_ptr<CURLU, FreeUrl>;

Status Refuse(const std::string& text, std::string_view why) {
  // Whole URLs may be long, or contain a password.
  const std::string shown = text.find('@') == std::string::npos ? text.substr(0, 200) : "...";
  return InvalidArgument("URL \"" + shown + "\": " + std::string(why));
}

// "" if the URL has no such part.
std::string Part(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  std::string copy(text);
  curl_free(text);
  return copy;
}

std::string LowerCase(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Status SetText(CURLU* url, const std::string& text) {
  if (text.empty()) return Refuse(text, "is empty");
  if (text.size() > kUrlBytesMax) return Refuse(text, "is too long");
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) {
      return Refuse(text, "holds a space or control character");
    }
  }
  const CURLUcode code = curl_url_set(url, CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME);
  if (code != CURLUE_OK) return Refuse(text, curl_url_strerror(code));
  return Status();
}

Result<OutboundUrl> Check(CURLU* url, const std::string& text) {
  OutboundUrl checked;
  checked.scheme = LowerCase(Part(url, CURLUPART_SCHEME));
  if (checked.scheme != "http" && checked.scheme != "https") {
    return Refuse(text, "is neither http nor https");
  }
  char* secret = nullptr;
  for (const CURLUPart part : {CURLUPART_USER, CURLUPART_PASSWORD}) {
    if (curl_url_get(url, part, &secret, 0) == CURLUE_OK) {
      curl_free(secret);
      return Refuse(text, "must not hold a user or password");
    }
  }
  const std::string host = LowerCase(Part(url, CURLUPART_HOST));
  if (host.empty()) return Refuse(text, "has no host");
  checked.host_port = host + ":" + Part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  // The fragment is not sent.
  curl_url_set(url, CURLUPART_FRAGMENT, nullptr, 0);
  checked.text = Part(url, CURLUPART_URL);
  return checked;
}

}  // namespace

Result<OutboundUrl> ParseOutboundUrl(const std::string& text) {
  const UrlHandle url(curl_url());
  if (text.find("://") == std::string::npos) return Refuse(text, "has no scheme");
  RETURN_IF_ERROR(SetText(url.get(), text));
  return Check(url.get(), text);
}

std::string HostPortOf(const std::string& url) {
  const Result<OutboundUrl> parsed = ParseOutboundUrl(url);
  return parsed.ok() ? parsed->host_port : "";
}

Result<OutboundUrl> ResolveOutboundUrl(const OutboundUrl& base, const std::string& location) {
  const UrlHandle url(curl_url());
  RETURN_IF_ERROR(SetText(url.get(), base.text));
  // Relative to the current URL.
  RETURN_IF_ERROR(SetText(url.get(), location));
  return Check(url.get(), location);
}

}  // namespace hearth::kit
