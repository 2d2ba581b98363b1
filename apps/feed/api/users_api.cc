#include "apps/feed/api/users_api.h"

#include <algorithm>
#include <utility>

#include "apps/feed/api/api_support.h"
#include "base/status_macros.h"
#include "base/utf8.h"

namespace hearth::feed {

void UsersApi::AddTo(kit::Routes* routes) {
  const Gate gate(parts_.tokens);
  routes->Add("GET", "/users/feed",
              [this](const kit::Request& request) { return GetThumbnails(request); });
  routes->Add("GET", "/users/search",
              gate.Anyone([this](const kit::Request& request, const Viewer& viewer) {
                return Search(request, viewer);
              }));
  routes->Add("GET", "/users/:id",
              gate.Anyone([this](const kit::Request& request, const Viewer& viewer) {
                return GetUser(request, viewer);
              }));
  routes->Add("GET", "/users/:id/followers",
              gate.Anyone([this](const kit::Request& request, const Viewer& viewer) {
                return List(Side::kFollowers, request, viewer);
              }));
  routes->Add("GET", "/users/:id/following",
              gate.Anyone([this](const kit::Request& request, const Viewer& viewer) {
                return List(Side::kFollowing, request, viewer);
              }));
  routes->Add("POST", "/users/:id/follow",
              gate.SignedIn([this](const kit::Request& request, UserId viewer) {
                return Follow(request, viewer);
              }));
  routes->Add("DELETE", "/users/:id/follow",
              gate.SignedIn([this](const kit::Request& request, UserId viewer) {
                return Unfollow(request, viewer);
              }));
}

kit::Response UsersApi::GetThumbnails(const kit::Request& request) const {
  const Result<UserId> id = ParseId<UserId>(request.Query("userid").value_or(""));
  if (!id.ok()) return InvalidId("user");
  const Result<std::optional<PostKey>> before = CursorOf<PostId>(request);
  if (!before.ok()) return InvalidCursor();
  if (const Status found = parts_.core.users().Get(*id).status(); !found.ok()) {
    return found.code() == Code::kNotFound ? Missing("user") : Failed(found);
  }
  const Result<PostPage> page = parts_.core.posts().ListOf(*id, *before, kPostsPerPage);
  if (!page.ok()) return Failed(page.status());
  nlohmann::json posts = nlohmann::json::array();
  for (const Post& post : page->posts) posts.push_back(ToThumbnailJson(post));
  const PostKey last = page->posts.empty() ? PostKey() : page->posts.back().key;
  return Page("posts", std::move(posts), FormatCursor(last), page->has_more);
}

kit::Response UsersApi::Search(const kit::Request& request, const Viewer& viewer) const {
  const std::string text = request.Query("q").value_or("");
  if (!IsValidUtf8(text) || CharactersIn(text) > kSearchCharactersMax) {
    return Error(400, "invalid_query", "q must be text of at most 100 characters");
  }
  const Result<std::vector<User>> users = parts_.core.users().Search(text, kFoundUsersMax);
  if (!users.ok()) return Failed(users.status());
  Result<nlohmann::json> json = UsersJson(*users, viewer);
  if (!json.ok()) return Failed(json.status());
  return kit::Response::Json({{"users", *std::move(json)}});
}

kit::Response UsersApi::GetUser(const kit::Request& request, const Viewer& viewer) const {
  const std::optional<UserId> id = IdOf<UserId>(request, "id");
  if (!id) return InvalidId("user");
  const Result<User> user = parts_.core.users().Get(*id);
  if (user.status().code() == Code::kNotFound) return Missing("user");
  if (!user.ok()) return Failed(user.status());
  if (!viewer) return kit::Response::Json(ToJson(*user, std::nullopt));
  const Result<bool> is_following = parts_.core.follows().IsFollowing(*viewer, *id);
  if (!is_following.ok()) return Failed(is_following.status());
  return kit::Response::Json(ToJson(*user, *is_following));
}

kit::Response UsersApi::List(Side side, const kit::Request& request, const Viewer& viewer) const {
  const std::optional<UserId> id = IdOf<UserId>(request, "id");
  if (!id) return InvalidId("user");
  const Result<std::optional<Place<UserId>>> cursor = CursorOf<UserId>(request);
  if (!cursor.ok()) return InvalidCursor();
  if (const Status found = parts_.core.users().Get(*id).status(); !found.ok()) {
    return found.code() == Code::kNotFound ? Missing("user") : Failed(found);
  }
  std::optional<FollowStore::Edge> before;
  if (*cursor) before = {.user_id = (*cursor)->id, .followed_seconds = (*cursor)->created_seconds};
  const Result<FollowStore::EdgePage> page =
      side == Side::kFollowers ? parts_.core.follows().ListFollowers(*id, before, kUsersPerPage)
                               : parts_.core.follows().ListFollowing(*id, before, kUsersPerPage);
  if (!page.ok()) return Failed(page.status());

  std::vector<UserId> ids;
  for (const FollowStore::Edge& edge : page->edges) ids.push_back(edge.user_id);
  const Result<std::vector<User>> users = parts_.core.users().GetAll(ids);
  if (!users.ok()) return Failed(users.status());
  Result<nlohmann::json> json = UsersJson(*users, viewer);
  if (!json.ok()) return Failed(json.status());
  Place<UserId> last;
  if (!page->edges.empty()) {
    last = {.created_seconds = page->edges.back().followed_seconds,
            .id = page->edges.back().user_id};
  }
  return Page("users", *std::move(json), FormatCursor(last), page->has_more);
}

kit::Response UsersApi::Follow(const kit::Request& request, UserId viewer) {
  const std::optional<UserId> id = IdOf<UserId>(request, "id");
  if (!id) return InvalidId("user");
  if (*id == viewer) return Error(400, "cannot_follow_self", "you cannot follow yourself");
  const Status followed = parts_.core.Follow(viewer, *id);
  switch (followed.code()) {
    case Code::kOk:
      return kit::Response::Json({{"following", true}}, 201);
    case Code::kNotFound:
      return Missing("user");
    case Code::kAlreadyExists:
      return Error(409, "already_following", "you already follow this account");
    case Code::kInvalidArgument:
      return Error(400, "following_limit", followed.message());
    default:
      return Failed(followed);
  }
}

kit::Response UsersApi::Unfollow(const kit::Request& request, UserId viewer) {
  const std::optional<UserId> id = IdOf<UserId>(request, "id");
  if (!id) return InvalidId("user");
  const Status unfollowed = parts_.core.Unfollow(viewer, *id);
  if (unfollowed.code() == Code::kNotFound) {
    return Error(404, "not_following", "you do not follow this account");
  }
  if (!unfollowed.ok()) return Failed(unfollowed);
  return NoContent();
}

Result<nlohmann::json> UsersApi::UsersJson(const std::vector<User>& users,
                                           const Viewer& viewer) const {
  Following following;
  if (viewer && !users.empty()) {
    ASSIGN_OR_RETURN(following, parts_.core.follows().Get(*viewer));
  }
  nlohmann::json json = nlohmann::json::array();
  for (const User& user : users) {
    std::optional<bool> is_following;
    if (viewer) is_following = std::ranges::binary_search(following.ids, user.id);
    json.push_back(ToJson(user, is_following));
  }
  return json;
}

}  // namespace hearth::feed
