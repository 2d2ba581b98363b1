#include "apps/feed/api/api_support.h"

#include <algorithm>
#include <utility>

#include "apps/feed/stores/documents.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace hearth::feed {
namespace {

// Relative to the application's mount point.
std::string MediaUrl(const std::string& file) { return "media/" + file; }

bool StartsCharacter(char byte) { return (byte & 0xC0) != 0x80; }

std::string Sentence(std::string_view text) {
  std::string sentence(text);
  if (sentence.empty()) return sentence;
  if (sentence[0] >= 'a' && sentence[0] <= 'z') {
    sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
  }
  if (!sentence.ends_with('.')) sentence += '.';
  return sentence;
}

nlohmann::json ToJson(const Post& post, bool has_liked) {
  nlohmann::json media = nlohmann::json::array();
  for (const Media& one : post.media) {
    media.push_back({{"position", media.size()},
                     {"url", MediaUrl(one.file)},
                     {"thumbnail_url", MediaUrl(one.thumbnail)},
                     {"width", one.width},
                     {"height", one.height}});
  }
  return {{"id", post.key.id},
          {"user_id", post.user_id},
          {"username", post.username},
          {"caption", post.caption},
          {"created_at", TimeText(post.key.created_seconds)},
          {"like_count", post.like_count},
          {"comment_count", post.comment_count},
          {"has_liked", has_liked},
          {"media", std::move(media)}};
}

// Nullopt: not signed in. Unauthenticated for an invalid token.
Result<std::optional<UserId>> ViewerOf(const kit::Request& request, const Tokens& tokens) {
  constexpr std::string_view kScheme = "bearer ";
  const std::optional<std::string_view> header = request.Header("authorization");
  if (!header) return std::optional<UserId>();
  const bool is_bearer =
      header->size() > kScheme.size() &&
      std::equal(kScheme.begin(), kScheme.end(), header->begin(), [](char wanted, char sent) {
        return wanted == (sent >= 'A' && sent <= 'Z' ? static_cast<char>(sent - 'A' + 'a') : sent);
      });
  if (!is_bearer) return Status(Code::kUnauthenticated, "not a bearer token");
  ASSIGN_OR_RETURN(const UserId viewer, tokens.CheckAccess(header->substr(kScheme.size())));
  return std::optional(viewer);
}

kit::Response Unauthenticated(const char* message) {
  kit::Response response = Error(401, DefaultCode(401), message);
  response.headers.emplace_back("www-authenticate", "Bearer");
  return response;
}

}  // namespace

nlohmann::json ErrorBody(std::string_view code, std::string_view message) {
  return {{"error", {{"code", code}, {"message", Sentence(message)}}}};
}

std::string_view DefaultCode(int status) {
  switch (status) {
    case 401:
      return "unauthenticated";
    case 403:
      return "forbidden";
    case 404:
      return "not_found";
    case 405:
      return "method_not_allowed";
    case 409:
      return "conflict";
    case 413:
      return "too_large";
    case 415:
      return "unsupported_media";
    case 429:
      return "too_many_requests";
    case 503:
      return "unavailable";
    default:
      return status >= 500 ? "internal" : "bad_request";
  }
}

kit::Response Error(int status, std::string_view code, std::string_view message) {
  return kit::Response::Json(ErrorBody(code, message), status);
}

kit::Response Failed(const Status& status) {
  Log(LogLevel::kWarning, "feed: a request failed", {{"reason", status.ToString()}});
  switch (status.code()) {
    case Code::kAborted:
    case Code::kCancelled:
    case Code::kDeadlineExceeded:
    case Code::kResourceExhausted:
    case Code::kUnavailable:
      return Error(503, DefaultCode(503), "temporarily unavailable; try again soon");
    default:
      return Error(500, DefaultCode(500), "internal error");
  }
}

kit::Response AccountGone() { return Unauthenticated("the account no longer exists"); }

kit::Response NoContent() { return {.status = 204}; }

kit::Response TooMany(std::string_view message, std::chrono::milliseconds wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait);
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(wait).count();
  const std::string time = minutes <= 1 ? "a minute" : std::to_string(minutes) + " minutes";
  kit::Response response =
      Error(429, DefaultCode(429), std::string(message) + "; try again in " + time);
  response.headers.emplace_back("retry-after", std::to_string(seconds.count()));
  return response;
}

kit::Handler Gate::SignedIn(ForUser handler) const {
  return [&tokens = tokens_, handler = std::move(handler)](const kit::Request& request) {
    const Result<std::optional<UserId>> viewer = ViewerOf(request, tokens);
    if (!viewer.ok()) return Unauthenticated("the access token is invalid or has expired");
    if (!*viewer) return Unauthenticated("an access token is required");
    return handler(request, **viewer);
  };
}

kit::Handler Gate::Anyone(ForAnyone handler) const {
  return [&tokens = tokens_, handler = std::move(handler)](const kit::Request& request) {
    const Result<std::optional<UserId>> viewer = ViewerOf(request, tokens);
    if (!viewer.ok()) return Unauthenticated("the access token is invalid or has expired");
    return handler(request, *viewer);
  };
}

kit::Response InvalidId(std::string_view kind) {
  return Error(400, "invalid_" + std::string(kind) + "_id", "an id must be a positive integer");
}

kit::Response Missing(std::string_view kind) {
  return Error(404, std::string(kind) + "_not_found", "there is no such " + std::string(kind));
}

kit::Response InvalidCursor() {
  return Error(400, "invalid_cursor", "cursor must be the next_cursor of a page (ID:SECONDS)");
}

kit::Response Page(const char* name, nlohmann::json items, const std::string& cursor,
                   bool has_more) {
  nlohmann::json page = {{name, std::move(items)}, {"next_cursor", nullptr}};
  page["has_more"] = has_more;
  if (has_more) page["next_cursor"] = cursor;
  return kit::Response::Json(page);
}

size_t CharactersIn(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, StartsCharacter));
}

std::string TimeText(int64_t seconds) { return ToTimestamp(seconds).ToString(); }

nlohmann::json ToJson(const User& user, std::optional<bool> is_following) {
  nlohmann::json json = {{"id", user.id},
                         {"username", user.username},
                         {"display_name", user.display_name},
                         {"bio", user.bio},
                         {"post_count", user.post_count},
                         {"follower_count", user.follower_count},
                         {"following_count", user.following_count},
                         {"created_at", TimeText(user.created_seconds)},
                         {"is_following", nullptr}};
  if (is_following) json["is_following"] = *is_following;
  return json;
}

nlohmann::json MeJson(const User& user) {
  nlohmann::json json = ToJson(user, std::nullopt);
  json.erase("is_following");
  json["is_new_user"] = user.is_new_user;
  return json;
}

nlohmann::json ToJson(const Comment& comment) {
  nlohmann::json json = {{"id", comment.id},
                         {"post_id", comment.post_id},
                         {"user_id", comment.user_id},
                         {"username", comment.username},
                         {"text", comment.text},
                         {"parent_id", nullptr},
                         {"created_at", TimeText(comment.created_seconds)},
                         {"is_deleted", comment.is_deleted}};
  if (comment.parent_id) json["parent_id"] = *comment.parent_id;
  return json;
}

Result<nlohmann::json> ToJson(const std::vector<Post>& posts, const PostStore& store,
                              const std::optional<UserId>& viewer) {
  std::vector<bool> has_liked(posts.size(), false);
  if (viewer) {
    std::vector<PostId> ids;
    ids.reserve(posts.size());
    for (const Post& post : posts) ids.push_back(post.key.id);
    ASSIGN_OR_RETURN(has_liked, store.HasLiked(ids, *viewer));
  }
  nlohmann::json json = nlohmann::json::array();
  for (size_t i = 0; i < posts.size(); ++i) json.push_back(ToJson(posts[i], has_liked[i]));
  return json;
}

nlohmann::json ToThumbnailJson(const Post& post) {
  nlohmann::json json = {{"id", post.key.id},
                         {"thumbnail_url", nullptr},
                         {"media_count", post.media.size()},
                         {"like_count", post.like_count},
                         {"comment_count", post.comment_count},
                         {"created_at", TimeText(post.key.created_seconds)}};
  if (!post.media.empty()) json["thumbnail_url"] = MediaUrl(post.media.front().thumbnail);
  return json;
}

}  // namespace hearth::feed
