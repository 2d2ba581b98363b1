#include "apps/feed/api/feed_api.h"

#include <utility>

#include "apps/feed/api/api_support.h"
#include "kit/web/session.h"

namespace hearth::feed {

void FeedApi::AddTo(kit::Routes* routes) {
  const Gate gate(parts_.tokens);
  routes->Add("GET", "/feed", gate.SignedIn([this](const kit::Request& request, UserId viewer) {
    return GetFeed(request, viewer);
  }));
  routes->Add("GET", "/health", [this](const kit::Request& request) { return GetHealth(request); });
}

kit::Response FeedApi::GetFeed(const kit::Request& request, UserId viewer) const {
  const Result<std::optional<PostKey>> before = CursorOf<PostId>(request);
  if (!before.ok()) return InvalidCursor();
  const Result<PostPage> page = parts_.core.ReadHome(viewer, *before);
  if (!page.ok()) return Failed(page.status());
  Result<nlohmann::json> posts = ToJson(page->posts, parts_.core.posts(), viewer);
  if (!posts.ok()) return Failed(posts.status());
  const PostKey last = page->posts.empty() ? PostKey() : page->posts.back().key;
  return Page("posts", *std::move(posts), FormatCursor(last), page->has_more);
}

kit::Response FeedApi::GetHealth(const kit::Request& request) const {
  const nlohmann::json health = parts_.core.Health();
  const int status = health.at("database").at("ok") == true ? 200 : 503;
  const bool is_operator = !parts_.operator_secret.empty() &&
                           kit::IsSameSecret(request.Header("authorization").value_or(""),
                                             "Bearer " + parts_.operator_secret);
  if (is_operator) return kit::Response::Json(health, status);
  return kit::Response::Json({{"status", health.at("status")}}, status);
}

}  // namespace hearth::feed
