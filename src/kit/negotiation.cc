#include "kit/negotiation.h"

#include <algorithm>

namespace hearth::kit {
namespace {

char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualIgnoringCase(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, ToLower, ToLower);
}

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

std::string_view TakeUntil(std::string_view& text, char end) {
  const std::string_view part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return Trim(part);
}

// "q=0", "q=0.000": not acceptable at all.
bool HasQualityZero(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view value = TakeUntil(parameters, ';');
    if (!EqualIgnoringCase(TakeUntil(value, '='), "q")) continue;
    return !value.empty() && value.find_first_not_of("0.") == std::string_view::npos;
  }
  return false;
}

std::string_view WithoutWeakness(std::string_view etag) {
  return etag.starts_with("W/") ? etag.substr(2) : etag;
}

}  // namespace

bool AcceptsGzip(std::string_view accept_encoding) {
  bool by_star = false;
  while (!accept_encoding.empty()) {
    std::string_view parameters = TakeUntil(accept_encoding, ',');
    const std::string_view coding = TakeUntil(parameters, ';');
    const bool accepted = !HasQualityZero(parameters);
    if (EqualIgnoringCase(coding, "gzip")) return accepted;
    if (coding == "*") by_star = accepted;
  }
  return by_star;
}

bool MatchesEtag(std::string_view if_none_match, std::string_view etag) {
  while (!if_none_match.empty()) {
    const std::string_view known = TakeUntil(if_none_match, ',');
    if (known == "*" || WithoutWeakness(known) == WithoutWeakness(etag)) return true;
  }
  return false;
}

bool WantsHtml(std::string_view accept) {
  while (!accept.empty()) {
    std::string_view parameters = TakeUntil(accept, ',');
    const std::string_view type = TakeUntil(parameters, ';');
    if (EqualIgnoringCase(type, "text/html")) return !HasQualityZero(parameters);
  }
  return false;
}

bool IsCrossSite(const http::RequestHead& head) {
  const std::optional<std::string_view> site = head.Find("sec-fetch-site");
  // "none": the user did it, in the address bar say.
  if (site && *site != "same-origin" && *site != "none") return true;
  std::optional<std::string_view> origin = head.Find("origin");
  if (!origin) return false;
  // The scheme is not compared: behind a proxy that encrypts, only the page's is https.
  const size_t scheme_end = origin->find("://");
  if (scheme_end == std::string_view::npos) return true;  // "null": a sandboxed frame, a file.
  return !EqualIgnoringCase(origin->substr(scheme_end + 3), head.authority());
}

}  // namespace hearth::kit
