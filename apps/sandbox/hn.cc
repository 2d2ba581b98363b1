#include "apps/sandbox/hn.h"

#include <charconv>
#include <string_view>

namespace hearth::sandbox {
namespace {

// 0, which no item has, if the file name is invalid.
int64_t ParseItemFile(std::string_view file) {
  static constexpr std::string_view kEnding = ".json";
  if (!file.ends_with(kEnding)) return 0;
  file.remove_suffix(kEnding.size());
  int64_t id = 0;
  const auto [end, error] = std::from_chars(file.data(), file.data() + file.size(), id);
  return error == std::errc() && end == file.data() + file.size() ? id : 0;
}

}  // namespace

void HnStandIn::AddRoutes(kit::Routes& routes) {
  routes.Add("GET", "/v0/newstories.json",
             [this](const kit::Request&) { return kit::Response::Json(items_.NewStories(Now())); });
  routes.Add("GET", "/v0/topstories.json",
             [this](const kit::Request&) { return kit::Response::Json(items_.TopStories(Now())); });
  routes.Add("GET", "/v0/maxitem.json",
             [this](const kit::Request&) { return kit::Response::Json(items_.MaxItem(Now())); });
  routes.Add("GET", "/v0/item/:file", [this](const kit::Request& request) {
    // Like the real API, which answers null to unknown paths.
    return kit::Response::Json(items_.Item(ParseItemFile(request.Parameter("file")), Now()));
  });
}

}  // namespace hearth::sandbox
