#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "http/exchange.h"
#include "http/plain.h"

namespace hearth::http {

// Finds the handler of a request: the service that chooses for itself, a plain handler or a service
// by exact path, a service by path prefix, or else 404.
//
// Threads: filled before the server starts, then read by all loops. Ownership: owns the plain
// handlers; borrows the services, which must outlive it.
class Router final : public Service {
 public:
  explicit Router(PlainOptions options = {}) : options_(options) {}

  // `method` is "GET" (which also answers HEAD), "POST" and so on; another method on that path gets
  // 405.
  void AddPlain(std::string method, std::string path, PlainHandler handler);
  // If two prefixes match, the longer one wins.
  void AddService(std::string path_prefix, Service& service);
  // For exactly this path, with every method.
  void AddExactService(std::string path, Service& service);
  // For all requests that it wants, before any of the above is tried.
  void SetFirst(ChoosingService& service) { first_ = &service; }

  std::shared_ptr<ExchangeHandler> Open(Exchange& exchange) override;

 private:
  struct PathHash : std::hash<std::string_view> {
    using is_transparent = void;  // So that looking up a view creates no string.
  };
  using Methods = std::vector<std::pair<std::string, PlainHandler>>;

  std::shared_ptr<ExchangeHandler> OpenPlainRoute(Exchange& exchange, const Methods& methods) const;

  const PlainOptions options_;
  std::unordered_map<std::string, Methods, PathHash, std::equal_to<>> plain_;
  std::unordered_map<std::string, Service*, PathHash, std::equal_to<>> exact_;
  std::vector<std::pair<std::string, Service*>> services_;  // Longest prefix first.
  ChoosingService* first_ = nullptr;
};

}  // namespace hearth::http
