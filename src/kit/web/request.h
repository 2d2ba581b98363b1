#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.h"

namespace hearth::kit {

// One complete request to an application.
//
// Threads: immutable. Ownership: owned by its handler; what it borrows lives as long.
class Request {
 public:
  // `mount_path`: "/apps/hackernews"; "" if the application has the port to itself.
  Request(http::RequestHead head, std::string body, std::string path, std::string peer,
          std::string mount_path = "");

  std::string_view method() const { return head_.method(); }
  // Relative to the application's mount point: "/api/v1/stories". Not decoded.
  const std::string& path() const { return path_; }
  // The client's address, without a port.
  const std::string& peer() const { return peer_; }
  const std::string& body() const { return body_; }
  // Whether the client's connection is encrypted. Behind a proxy that ends TLS, only the origin of
  // the page tells. It is the browser's word about itself and decides about its own cookies;
  // X-Forwarded-Proto does not count, because nobody need have checked it.
  bool is_secure() const;
  // The path of the application's cookies: other applications of the host do not get them.
  std::string cookie_path() const { return mount_path_ + "/"; }
  std::optional<std::string_view> Header(std::string_view lower_case_name) const {
    return head_.Find(lower_case_name);
  }

  // "42" for ":id" in the route's pattern, percent-decoded. Requires that the pattern has it.
  const std::string& Parameter(std::string_view name) const;
  // From the query string, percent-decoded; nullopt if missing.
  std::optional<std::string> Query(std::string_view name) const;
  std::optional<std::string> Cookie(std::string_view name) const;

  void set_parameters(std::map<std::string, std::string, std::less<>> parameters) {
    parameters_ = std::move(parameters);
  }

 private:
  http::RequestHead head_;
  std::string body_;
  std::string path_;
  std::string peer_;
  std::string mount_path_;
  std::map<std::string, std::string, std::less<>> parameters_;
};

}  // namespace hearth::kit
