#include "apps/feed/api/comments_api.h"

#include <utility>

#include "apps/feed/api/api_support.h"
#include "kit/web/json_fields.h"

namespace hearth::feed {
namespace {

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

}  // namespace

void CommentsApi::AddTo(kit::Routes* routes) {
  const Gate gate(parts_.tokens);
  routes->Add("GET", "/posts/:id/comments",
              [this](const kit::Request& request) { return List(request); });
  routes->Add("POST", "/posts/:id/comments",
              gate.SignedIn([this](const kit::Request& request, UserId viewer) {
                return Create(request, viewer);
              }));
  routes->Add("DELETE", "/posts/:id/comments/:comment",
              gate.SignedIn([this](const kit::Request& request, UserId viewer) {
                return Delete(request, viewer);
              }));
}

kit::Response CommentsApi::List(const kit::Request& request) const {
  const std::optional<PostId> post_id = IdOf<PostId>(request, "id");
  if (!post_id) return InvalidId("post");
  const Result<std::optional<CommentKey>> after = CursorOf<CommentId>(request);
  if (!after.ok()) return InvalidCursor();
  const Result<CommentStore::Page> page =
      parts_.core.comments().List(*post_id, *after, kCommentsPerPage);
  if (page.status().code() == Code::kNotFound) return Missing("post");
  if (!page.ok()) return Failed(page.status());

  nlohmann::json comments = nlohmann::json::array();
  CommentKey last;
  for (const Comment& comment : page->comments) {
    comments.push_back(ToJson(comment));
    last = {.created_seconds = comment.created_seconds, .id = comment.id};
  }
  return Page("comments", std::move(comments), FormatCursor(last), page->has_more);
}

kit::Response CommentsApi::Create(const kit::Request& request, UserId viewer) {
  const std::optional<PostId> post_id = IdOf<PostId>(request, "id");
  if (!post_id) return InvalidId("post");
  kit::JsonFields fields = kit::JsonFields::Parse(request.body());
  if (!fields.status().ok()) return Error(400, DefaultCode(400), fields.status().message());
  const std::string text =
      fields.Text("text", {.characters_min = 1, .characters_max = kTextCharactersMax});
  if (!fields.status().ok()) return Error(400, "invalid_text", fields.status().message());
  if (IsBlank(text)) return Error(400, "invalid_text", "text must not be blank");
  const std::optional<int64_t> parent_number = fields.OptionalInteger("parent_id", {.min = 1});
  if (!fields.status().ok()) return Error(400, "invalid_comment_id", fields.status().message());
  std::optional<CommentId> parent_id;
  if (parent_number) parent_id = CommentId{*parent_number};

  const Result<User> user = parts_.core.users().Get(viewer);
  if (user.status().code() == Code::kNotFound) return AccountGone();
  if (!user.ok()) return Failed(user.status());
  const kit::QuotaWindows::Outcome quota = comments_.Spend(ToText(viewer));
  if (!quota.allowed) return TooMany("you have commented too often", quota.until_reset);
  const Result<Comment> comment = parts_.core.comments().Create({.post_id = *post_id,
                                                                 .user_id = viewer,
                                                                 .username = user->username,
                                                                 .text = text,
                                                                 .parent_id = parent_id});
  if (!comment.ok()) comments_.Refund(ToText(viewer));
  if (comment.status().code() == Code::kNotFound) return MissingOf(*post_id);
  if (comment.status().code() == Code::kInvalidArgument) {
    return Error(400, "reply_too_deep", "a reply cannot be replied to");
  }
  if (!comment.ok()) return Failed(comment.status());
  return kit::Response::Json(ToJson(*comment), 201);
}

kit::Response CommentsApi::Delete(const kit::Request& request, UserId viewer) {
  const std::optional<PostId> post_id = IdOf<PostId>(request, "id");
  if (!post_id) return InvalidId("post");
  const std::optional<CommentId> comment_id = IdOf<CommentId>(request, "comment");
  if (!comment_id) return InvalidId("comment");
  const Status deleted = parts_.core.comments().Delete(*post_id, *comment_id, viewer);
  if (deleted.code() == Code::kNotFound) return MissingOf(*post_id);
  if (deleted.code() == Code::kPermissionDenied) {
    return Error(403, "not_owner", "neither this comment nor its post is yours");
  }
  if (!deleted.ok()) return Failed(deleted);
  return NoContent();
}

kit::Response CommentsApi::MissingOf(PostId post_id) const {
  const Status post = parts_.core.posts().Get(post_id).status();
  return Missing(post.code() == Code::kNotFound ? "post" : "comment");
}

}  // namespace hearth::feed
