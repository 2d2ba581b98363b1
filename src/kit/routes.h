#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kit/assets.h"
#include "kit/request.h"
#include "kit/response.h"

namespace hearth::kit {

// May block: it runs on one of the application's threads.
using Handler = std::function<Response(const Request&)>;

// Who answers what, in one application.
//
// Patterns are paths whose segments may be parameters: "/users/:id/posts". A fixed segment wins
// over a parameter. A path that is known with other methods only is answered with 405.
//
// Threads: filled before the first Answer, then immutable.
class Routes {
 public:
  // How this application words its errors. Without it: {"error": message}.
  using ErrorBody = std::function<nlohmann::json(int status, const std::string& message)>;

  void Add(std::string_view method, std::string_view pattern, Handler handler);
  // The page and its files: GET "/" and "/FILE".
  void AddAssets(const AssetBundle& assets);
  void SetErrorBody(ErrorBody body) { error_body_ = std::move(body); }
  // What is said of paths that nobody answers; 404 "not found" without it.
  void SetNotFound(std::string message) { not_found_ = std::move(message); }

  // Never throws: what a handler throws is logged and answered with 500.
  Response Answer(Request request) const;
  Response Error(int status, const std::string& message) const;

 private:
  struct Route {
    std::string method;
    std::vector<std::string> segments;  // ":id" is a parameter.
    Handler handler;
  };

  std::vector<Route> routes_;
  ErrorBody error_body_;
  std::string not_found_ = "not found";
};

// HTTP's status for a code of the database.
int HttpStatusOf(Code code);

}  // namespace hearth::kit
