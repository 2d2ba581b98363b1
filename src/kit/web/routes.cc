#include "kit/web/routes.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/utf8.h"
#include "http/percent.h"

namespace hearth::kit {
namespace {

std::vector<std::string> Split(std::string_view path) {
  std::vector<std::string> segments;
  path.remove_prefix(std::min<size_t>(path.size(), 1));  // The first slash.
  while (true) {
    const size_t slash = path.find('/');
    segments.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

bool IsParameter(std::string_view segment) { return segment.size() > 1 && segment[0] == ':'; }

bool Fits(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  return std::ranges::equal(pattern, path, [](const std::string& wanted, const std::string& given) {
    return IsParameter(wanted) ? !given.empty() : wanted == given;
  });
}

// Whether `left` has the fixed segment where it first differs from `right`. Both match the same
// path.
bool IsMoreFixed(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  for (size_t i = 0; i < left.size(); ++i) {
    if (IsParameter(left[i]) != IsParameter(right[i])) return !IsParameter(left[i]);
  }
  return false;
}

using Parameters = std::map<std::string, std::string, std::less<>>;

// nullopt if the decoded text is invalid.
std::optional<Parameters> ReadParameters(std::string_view pattern, std::string_view path) {
  const std::vector<std::string> names = Split(pattern);
  const std::vector<std::string> values = Split(path);
  Parameters parameters;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!IsParameter(names[i])) continue;
    std::optional<std::string> value = http::DecodePercent(values[i]);
    if (!value || !IsValidUtf8(*value)) return std::nullopt;
    parameters[names[i].substr(1)] = std::move(*value);
  }
  return parameters;
}

}  // namespace

void Routes::Add(std::string_view method, std::string_view pattern, Handler handler,
                 RouteOptions options) {
  CHECK(pattern.starts_with('/'));
  routes_.push_back({.method = std::string(method),
                     .pattern = std::string(pattern),
                     .segments = Split(pattern),
                     .handler = std::move(handler),
                     .options = options});
}

void Routes::AddAssets(const AssetBundle& assets) {
  for (const Asset& asset : assets) {
    assets_["/" + std::string(asset.path)] = &asset;
    if (asset.path == "index.html") assets_["/"] = &asset;
  }
}

Routes::Found Routes::Find(std::string_view method, std::string_view path) const {
  const std::string_view asked = method == "HEAD" ? "GET" : method;
  const std::vector<std::string> segments = Split(path);
  const Route* best = nullptr;
  std::vector<std::string> methods;
  for (const Route& route : routes_) {
    if (!Fits(route.segments, segments)) continue;
    methods.push_back(route.method);
    if (route.method != asked) continue;
    if (best == nullptr || IsMoreFixed(route.segments, best->segments)) best = &route;
  }
  if (best != nullptr) {
    return {.handler = &best->handler,
            .pattern = best->pattern,
            .options = best->options,
            .number = static_cast<size_t>(best - routes_.data())};
  }

  if (const auto found = assets_.find(path); found != assets_.end()) {
    if (asked == "GET") return {.asset = found->second, .pattern = "assets"};
    methods.push_back("GET");
  }
  std::ranges::sort(methods);
  methods.erase(std::unique(methods.begin(), methods.end()), methods.end());
  Found nobody;
  for (const std::string& known : methods) {
    nobody.allowed_methods += (nobody.allowed_methods.empty() ? "" : ", ") + known;
  }
  return nobody;
}

Response Routes::Answer(Request request) const {
  const Found found = Find(request.method(), request.path());
  if (found.asset != nullptr) {
    return {.content_type = std::string(found.asset->content_type),
            .body = std::string(found.asset->content),
            .headers = {{"etag", std::string(found.asset->etag)}}};
  }
  if (found.handler == nullptr && !found.allowed_methods.empty()) {
    Response refused = Error(405, "method not allowed");
    refused.headers.emplace_back("allow", found.allowed_methods);
    return refused;
  }
  if (found.handler == nullptr) return Error(404, not_found_);

  std::optional<Parameters> parameters = ReadParameters(found.pattern, request.path());
  if (!parameters) return Error(400, "the path is not percent-encoded UTF-8");
  request.set_parameters(std::move(*parameters));
  return Run(*found.handler, request);
}

Response Routes::Run(const Handler& handler, const Request& request) const {
  std::string reason;
  try {
    return handler(request);
  } catch (const std::exception& error) {
    reason = error.what();
  } catch (...) {  // Libraries may throw anything.
    reason = "not a std::exception";
  }
  Log(LogLevel::kError, "a handler threw",
      {{"method", request.method()}, {"path", request.path()}, {"reason", reason}});
  return Error(500, "internal error");
}

Response Routes::Error(int status, const std::string& message) const {
  if (error_body_) return Response::Json(error_body_(status, message), status);
  return Response::Json({{"error", message}}, status);
}

}  // namespace hearth::kit
