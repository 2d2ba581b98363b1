// Shared by the endpoints: errors, authentication, cursors and JSON forms.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/feed/ids/post_key.h"
#include "apps/feed/stores/comment_store.h"
#include "apps/feed/stores/documents.h"
#include "apps/feed/stores/post.h"
#include "apps/feed/stores/post_store.h"
#include "apps/feed/stores/tokens.h"
#include "apps/feed/stores/user_store.h"
#include "base/status.h"
#include "base/status_macros.h"
#include "kit/web/request.h"
#include "kit/web/response.h"
#include "kit/web/routes.h"

namespace hearth::feed {

inline constexpr size_t kPostsPerPage = 10;

// {"error": {"code", "message"}}; the message is turned into a sentence.
nlohmann::json ErrorBody(std::string_view code, std::string_view message);
// "not_found" for 404 and so on, if nothing more specific is known.
std::string_view DefaultCode(int status);

kit::Response Error(int status, std::string_view code, std::string_view message);
// For failures that the client did not cause: 503 if transient, else 500. Logged.
kit::Response Failed(const Status& status);
// 401: a token outlives its account if the database was recreated.
kit::Response AccountGone();
kit::Response NoContent();
// 429 with Retry-After; the message says how long to wait.
kit::Response TooMany(std::string_view message, std::chrono::milliseconds wait);

// Identifies the user by the request's access token: "Authorization: Bearer TOKEN". An invalid
// token is answered with 401 even where none is required, so that the client notices.
//
// Threads: safe for concurrent use. Ownership: borrows the tokens, as do its handlers.
class Gate {
 public:
  using ForUser = std::function<kit::Response(const kit::Request&, UserId viewer)>;
  using ForAnyone =
      std::function<kit::Response(const kit::Request&, const std::optional<UserId>& viewer)>;

  explicit Gate(const Tokens& tokens) : tokens_(tokens) {}

  kit::Handler SignedIn(ForUser handler) const;
  kit::Handler Anyone(ForAnyone handler) const;

 private:
  const Tokens& tokens_;
};

// The id in a path; nullopt if it is malformed, to be answered with InvalidId.
template <Id T>
std::optional<T> IdOf(const kit::Request& request, std::string_view parameter) {
  const Result<T> id = ParseId<T>(request.Parameter(parameter));
  return id.ok() ? std::optional(*id) : std::nullopt;
}
// 400 "invalid_post_id" for `kind` "post".
kit::Response InvalidId(std::string_view kind);
// 404 "post_not_found" for `kind` "post".
kit::Response Missing(std::string_view kind);

// The parameter "cursor"; nullopt if missing or empty. InvalidArgument, to be answered with
// InvalidCursor, if it is malformed.
template <Id T>
Result<std::optional<Place<T>>> CursorOf(const kit::Request& request) {
  const std::optional<std::string> text = request.Query("cursor");
  if (!text || text->empty()) return std::optional<Place<T>>();
  ASSIGN_OR_RETURN(const Place<T> place, ParseCursor<T>(*text));
  if (place.created_seconds > kSecondsMax) return InvalidArgument("beyond the year 9999");
  return std::optional(place);
}
kit::Response InvalidCursor();
// A page of `name`: {name: items, next_cursor, has_more}. `cursor`: of its last item.
kit::Response Page(const char* name, nlohmann::json items, const std::string& cursor,
                   bool has_more);

// The number of code points of UTF-8 text.
size_t CharactersIn(std::string_view text);

std::string TimeText(int64_t seconds);  // "2025-11-29T10:00:00Z"
// `is_following`: whether the viewer follows the user; null if not signed in.
nlohmann::json ToJson(const User& user, std::optional<bool> is_following);
nlohmann::json ToJson(const Comment& comment);
// Includes whether the viewer likes them.
Result<nlohmann::json> ToJson(const std::vector<Post>& posts, const PostStore& store,
                              const std::optional<UserId>& viewer);
// A post in its thumbnail form.
nlohmann::json ToThumbnailJson(const Post& post);
// An account as its owner sees it.
nlohmann::json MeJson(const User& user);

}  // namespace hearth::feed
