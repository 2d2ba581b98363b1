#include "kit/web/negotiation.h"

#include "base/text.h"

namespace hearth::kit {
namespace {

std::string_view TakeTrimmed(std::string_view& text, char end) {
  return Trim(TakeUntil(text, end));
}

// "q=0", "q=0.000": not acceptable at all.
bool HasQualityZero(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view value = TakeTrimmed(parameters, ';');
    if (!EqualsIgnoringCase(TakeTrimmed(value, '='), "q")) continue;
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
    std::string_view parameters = TakeTrimmed(accept_encoding, ',');
    const std::string_view coding = TakeTrimmed(parameters, ';');
    const bool accepted = !HasQualityZero(parameters);
    if (EqualsIgnoringCase(coding, "gzip")) return accepted;
    if (coding == "*") by_star = accepted;
  }
  return by_star;
}

bool MatchesEtag(std::string_view if_none_match, std::string_view etag) {
  while (!if_none_match.empty()) {
    const std::string_view known = TakeTrimmed(if_none_match, ',');
    if (known == "*" || WithoutWeakness(known) == WithoutWeakness(etag)) return true;
  }
  return false;
}

bool WantsHtml(std::string_view accept) {
  while (!accept.empty()) {
    std::string_view parameters = TakeTrimmed(accept, ',');
    const std::string_view type = TakeTrimmed(parameters, ';');
    if (EqualsIgnoringCase(type, "text/html")) return !HasQualityZero(parameters);
  }
  return false;
}

bool IsCrossSite(const http::RequestHead& head) {
  const std::optional<std::string_view> site = head.Find("sec-fetch-site");
  // "none": initiated by the user, for instance in the address bar.
  if (site && *site != "same-origin" && *site != "none") return true;
  std::optional<std::string_view> origin = head.Find("origin");
  if (!origin) return false;
  // The scheme is not compared: behind a TLS proxy only the page's is https.
  const size_t scheme_end = origin->find("://");
  if (scheme_end == std::string_view::npos) return true;  // "null": a sandboxed frame, a file.
  return !EqualsIgnoringCase(origin->substr(scheme_end + 3), head.authority());
}

}  // namespace hearth::kit
