#include "http/origin_policy.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/status_macros.h"

namespace hearth::http {
namespace {

constexpr size_t kHostBytesMax = 253;  // RFC 1035.
constexpr uint8_t kLoopbackNetwork = 127;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return c >= 'a' && c <= 'z'; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::optional<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, port);
  if (text.empty() || error != std::errc() || rest != end) return std::nullopt;
  return port;
}

// The usual form of a numeric address; nullopt if it is not one.
std::optional<std::string> ParseNumeric(int family, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address = {};
  std::array<char, INET6_ADDRSTRLEN> usual = {};
  if (inet_pton(family, text.c_str(), address.data()) != 1) return std::nullopt;
  return std::string(inet_ntop(family, address.data(), usual.data(), usual.size()));
}

// Whether browsers treat a name as an IPv4 address, which they do by its last label. They rewrite
// forms such as "0x7f.1" or "2130706433" before they send them.
bool EndsInNumber(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return IsDigit(last[0]) && (std::ranges::all_of(last, IsDigit) || last.starts_with("0x"));
}

std::optional<std::string> ParseName(std::string_view text) {
  std::string host = Lower(text);
  if (host.ends_with('.')) host.pop_back();
  if (host.empty() || host.size() > kHostBytesMax || host.front() == '.' || host.back() == '.' ||
      host.find("..") != std::string::npos) {
    return std::nullopt;
  }
  const bool is_plain = std::ranges::all_of(
      host, [](char c) { return IsLetter(c) || IsDigit(c) || c == '-' || c == '_' || c == '.'; });
  if (!is_plain) return std::nullopt;
  return EndsInNumber(host) ? ParseNumeric(AF_INET, host) : host;
}

Status Denied(std::string message) { return Status(Code::kPermissionDenied, std::move(message)); }

// Shortened, because a client may send kilobytes.
std::string Quoted(std::string_view text) {
  constexpr size_t kQuotedBytesMax = 300;
  return "'" + std::string(text.substr(0, kQuotedBytesMax)) + "'";
}

// Recognizes what almost every client sends, without parsing it: this runs for every request.
bool IsUsualHost(std::string_view text) {
  for (const std::string_view host : {"127.0.0.1", "localhost"}) {
    if (!text.starts_with(host)) continue;
    const std::string_view port = text.substr(host.size());
    return port.empty() || (port[0] == ':' && ParsePort(port.substr(1)));
  }
  return false;
}

}  // namespace

std::optional<Authority> ParseAuthority(std::string_view text) {
  Authority authority;
  std::string_view rest;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    std::optional<std::string> host = ParseNumeric(AF_INET6, std::string(text.substr(1, end - 1)));
    if (!host) return std::nullopt;
    authority.host = *std::move(host);
    rest = text.substr(end + 1);
  } else {
    const size_t colon = std::min(text.find(':'), text.size());
    std::optional<std::string> host = ParseName(text.substr(0, colon));
    if (!host) return std::nullopt;
    authority.host = *std::move(host);
    rest = text.substr(colon);
  }
  if (rest.empty()) return authority;
  if (!rest.starts_with(':')) return std::nullopt;
  authority.port = ParsePort(rest.substr(1));
  if (!authority.port) return std::nullopt;
  return authority;
}

bool IsLoopbackHost(std::string_view host) {
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  const std::string text(host);
  in_addr ipv4 = {};
  if (inet_pton(AF_INET, text.c_str(), &ipv4) == 1) {
    return ntohl(ipv4.s_addr) >> 24 == kLoopbackNetwork;
  }
  in6_addr ipv6 = {};
  if (inet_pton(AF_INET6, text.c_str(), &ipv6) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&ipv6) ||
         (IN6_IS_ADDR_V4MAPPED(&ipv6) && ipv6.s6_addr[12] == kLoopbackNetwork);
}

std::optional<OriginPolicy::Origin> OriginPolicy::ParseOrigin(std::string_view text) {
  const size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return std::nullopt;
  Origin origin;
  origin.scheme = Lower(text.substr(0, scheme_end));
  const bool is_scheme = !origin.scheme.empty() && IsLetter(origin.scheme[0]) &&
                         std::ranges::all_of(origin.scheme, [](char c) {
                           return IsLetter(c) || IsDigit(c) || c == '-';
                         });
  std::optional<Authority> authority = ParseAuthority(text.substr(scheme_end + 3));
  if (!is_scheme || !authority) return std::nullopt;
  origin.authority = *std::move(authority);
  const uint16_t usual_port = origin.scheme == "http" ? 80 : origin.scheme == "https" ? 443 : 0;
  if (origin.authority.port == usual_port) origin.authority.port.reset();
  return origin;
}

Status OriginPolicy::AllowHost(std::string_view text) {
  std::optional<Authority> authority = ParseAuthority(text);
  if (!authority) {
    return InvalidArgument(Quoted(text) + " is not a host: write NAME or NAME:PORT");
  }
  hosts_.push_back(*std::move(authority));
  return Status();
}

Status OriginPolicy::AllowOrigin(std::string_view text) {
  std::optional<Origin> origin = ParseOrigin(text);
  if (!origin) {
    return InvalidArgument(Quoted(text) +
                           " is not an origin: write SCHEME://HOST or SCHEME://HOST:PORT, such as "
                           "https://app.example, without a path");
  }
  origins_.push_back(*std::move(origin));
  return Status();
}

Status OriginPolicy::Check(const RequestHead& head) const {
  RETURN_IF_ERROR(CheckHost(head.authority()));
  bool has_origin = false;
  for (size_t i = 0; i < head.header_count(); ++i) {
    const Header header = head.header(i);
    if (header.name == "host") {
      // It need not be the authority: HTTP/2 has both, and so has a request to a proxy.
      RETURN_IF_ERROR(CheckHost(header.value));
    } else if (header.name == "origin") {
      has_origin = true;
      RETURN_IF_ERROR(CheckOrigin(header.value, head));
    }
  }
  return has_origin ? Status() : CheckSite(head);
}

Status OriginPolicy::CheckHost(std::string_view text) const {
  if (IsUsualHost(text)) return Status();
  const std::optional<Authority> authority = ParseAuthority(text);
  if (authority) {
    if (IsLoopbackHost(authority->host)) return Status();
    for (const Authority& allowed : hosts_) {
      const bool is_port = !allowed.port || allowed.port == authority->port;
      if (allowed.host == authority->host && is_port) return Status();
    }
  }
  return Denied("The host " + Quoted(text) +
                " is not a name of this server. To allow it, start hearth with --allow-host.");
}

Status OriginPolicy::CheckOrigin(std::string_view text, const RequestHead& head) const {
  if (const std::optional<Origin> origin = ParseOrigin(text)) {
    const bool is_web = origin->scheme == "http" || origin->scheme == "https";
    if (is_web && IsLoopbackHost(origin->authority.host)) return Status();
    if (std::ranges::find(origins_, *origin) != origins_.end()) return Status();
    // A page of this server itself. The scheme may differ: behind a TLS proxy only the page's is
    // https.
    const auto own = ParseOrigin(origin->scheme + "://" + std::string(head.authority()));
    if (is_web && own == origin) return Status();
  }
  return Denied("Web pages of the origin " + Quoted(text) +
                " may not use this server. To allow them, start hearth with --allow-origin.");
}

Status OriginPolicy::CheckSite(const RequestHead& head) const {
  bool is_foreign = false;
  for (size_t i = 0; i < head.header_count(); ++i) {
    const Header header = head.header(i);
    // "none": made by the user, for instance in the address bar.
    if (header.name == "sec-fetch-site" && header.value != "same-origin" &&
        header.value != "none") {
      is_foreign = true;
    }
  }
  if (!is_foreign) return Status();
  const bool is_link = (head.method() == "GET" || head.method() == "HEAD") &&
                       head.Find("sec-fetch-mode") == "navigate" &&
                       head.Find("sec-fetch-dest") == "document";
  if (is_link && IsPage(head.path())) return Status();
  return Denied("Web pages of other sites may not load this.");
}

bool OriginPolicy::IsPage(std::string_view path) const {
  return std::ranges::find(pages_, path) != pages_.end() ||
         std::ranges::any_of(page_prefixes_, [path](const std::string& prefix) {
           return path.starts_with(prefix);
         });
}

}  // namespace hearth::http
