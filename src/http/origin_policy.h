// Which host names lead to this server, and which web pages may use it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "http/exchange.h"

namespace hearth::http {

// The host and the port of a URL, in the form in which browsers send them.
struct Authority {
  std::string host;  // Lower case, without a trailing dot; IPv6 addresses without brackets.
  std::optional<uint16_t> port = {};

  bool operator==(const Authority&) const = default;
};

// Nullopt for anything that no browser sends: user names, incomplete or octal addresses, empty
// labels, characters that do not occur in names, invalid ports.
std::optional<Authority> ParseAuthority(std::string_view text);

// Whether the host of a parsed authority always is this machine: localhost, any name below it,
// 127.0.0.0/8 and ::1.
bool IsLoopbackHost(std::string_view host);

// Decides which requests a server answers.
//
// A loopback address does not keep web pages out: a browser on this machine sends requests to it
// for any page that it shows. So a request must name a host of this server, or a page could give
// its own name the server's address (DNS rebinding), and a page that makes a request must be of an
// allowed origin. Allowed by default are hosts and origins of this machine, with any port, because
// a page under development comes from a port of its own.
//
// Threads: immutable once the server has started. Ownership: a value.
class OriginPolicy {
 public:
  // "HOST", with any port, or "HOST:PORT". Pages that this server itself delivers under that name
  // may use it too. InvalidArgument if it cannot be the host of a URL.
  Status AllowHost(std::string_view text);
  // "SCHEME://HOST" or "SCHEME://HOST:PORT", as a browser writes it in the header Origin.
  // InvalidArgument for anything else, including "null" and "*", which stand for unknown pages.
  Status AllowOrigin(std::string_view text);
  // A link on any page may open the documents of this path, or of all paths with this prefix. The
  // paths of an interface for programs do not belong here.
  void AddPage(std::string path) { pages_.push_back(std::move(path)); }
  void AddPages(std::string path_prefix) { page_prefixes_.push_back(std::move(path_prefix)); }

  // PermissionDenied for a request that must not be answered, with a message for its sender.
  Status Check(const RequestHead& head) const;

 private:
  struct Origin {
    std::string scheme;
    Authority authority;  // Without the scheme's default port.

    bool operator==(const Origin&) const = default;
  };

  static std::optional<Origin> ParseOrigin(std::string_view text);
  Status CheckHost(std::string_view text) const;
  Status CheckOrigin(std::string_view text, const RequestHead& head) const;
  // For a request without an origin: browsers omit it if the page cannot read the answer.
  Status CheckSite(const RequestHead& head) const;
  bool IsPage(std::string_view path) const;

  std::vector<Authority> hosts_;
  std::vector<Origin> origins_;
  std::vector<std::string> pages_;
  std::vector<std::string> page_prefixes_;
};

}  // namespace hearth::http
