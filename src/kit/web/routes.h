#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kit/web/assets.h"
#include "kit/web/request.h"
#include "kit/web/response.h"

namespace hearth::kit {

// May block: it runs on one of the application's threads.
using Handler = std::function<Response(const Request&)>;

struct RouteOptions {
  // Of a request's body; what the service allows to all where it is not set.
  std::optional<size_t> body_bytes_max = std::nullopt;
};

// Who answers what, in one application.
//
// Patterns are paths whose segments may be parameters: "/users/:id/posts". A fixed segment wins
// over a parameter, and a route over a file of the page. GET answers HEAD too. A path that is known
// with other methods only is answered with 405.
//
// Threads: filled before the first Answer, then immutable.
class Routes {
 public:
  // How this application words its errors. Without it: {"error": message}.
  using ErrorBody = std::function<nlohmann::json(int status, const std::string& message)>;

  void Add(std::string_view method, std::string_view pattern, Handler handler,
           RouteOptions options = {});
  // The page and its files: GET "/" and "/FILE".
  void AddAssets(const AssetBundle& assets);
  void SetErrorBody(ErrorBody body) { error_body_ = std::move(body); }
  // What is said of paths that nobody answers; 404 "not found" without it.
  void SetNotFound(std::string message) { not_found_ = std::move(message); }

  // Who answers a request; one of `handler` and `asset`, or neither and the methods that the path
  // is known with.
  struct Found {
    const Handler* handler = nullptr;
    const Asset* asset = nullptr;
    std::string pattern = {};  // "/users/:id"; "assets"; "" where nobody answers.
    std::string allowed_methods = {};
    RouteOptions options = {};
  };
  Found Find(std::string_view method, std::string_view path) const;

  // Never throws: what a handler throws is logged and answered with 500.
  Response Answer(Request request) const;
  Response Error(int status, const std::string& message) const;

 private:
  struct Route {
    std::string method;
    std::string pattern;
    std::vector<std::string> segments;  // ":id" is a parameter.
    Handler handler;
    RouteOptions options;
  };

  const Asset* FindAsset(std::string_view path) const;
  Response Run(const Handler& handler, const Request& request) const;

  std::vector<Route> routes_;
  std::map<std::string, const Asset*, std::less<>> assets_;  // By path, "/main.js".
  ErrorBody error_body_;
  std::string not_found_ = "not found";
};

}  // namespace hearth::kit
