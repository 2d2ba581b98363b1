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

// The threads that run a handler. Each kind of work has its own, so that pages do not wait for
// expensive work.
enum class Work : uint8_t {
  kPage,    // Takes milliseconds.
  kSignIn,  // Hashes a password or asks another service about one.
  kUpload,  // Has a large body, and processes it.
};
inline constexpr size_t kWorkKinds = 3;

struct RouteOptions {
  // Limit of a request's body; by default that of the service.
  std::optional<size_t> body_bytes_max = std::nullopt;
  Work work = Work::kPage;
};

// The routes of one application.
//
// Patterns are paths whose segments may be parameters: "/users/:id/posts". A fixed segment takes
// precedence over a parameter, and a route over a file of the page. GET answers HEAD too. A path
// that exists only with other methods gets 405.
//
// Threads: filled before the first Answer, then immutable.
class Routes {
 public:
  // The format of the application's errors. Default: {"error": message}.
  using ErrorBody = std::function<nlohmann::json(int status, const std::string& message)>;

  void Add(std::string_view method, std::string_view pattern, Handler handler,
           RouteOptions options = {});
  // The page and its files: GET "/" and "/FILE".
  void AddAssets(const AssetBundle& assets);
  void SetErrorBody(ErrorBody body) { error_body_ = std::move(body); }
  // The message for unknown paths. Default: 404 "not found".
  void SetNotFound(std::string message) { not_found_ = std::move(message); }

  // The match of a request: one of `handler` and `asset`, or neither, with the methods that the
  // path supports.
  struct Found {
    const Handler* handler = nullptr;
    const Asset* asset = nullptr;
    std::string pattern = {};  // "/users/:id"; "assets"; "" if nothing matches.
    std::string allowed_methods = {};
    RouteOptions options = {};
    size_t number = 0;  // Of the route, below size().
  };
  Found Find(std::string_view method, std::string_view path) const;

  // The routes by number.
  size_t size() const { return routes_.size(); }
  const std::string& method(size_t number) const { return routes_[number].method; }
  const std::string& pattern(size_t number) const { return routes_[number].pattern; }

  // Never throws: exceptions of a handler are logged and answered with 500.
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
