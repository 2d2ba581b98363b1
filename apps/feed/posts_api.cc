#include "apps/feed/posts_api.h"

#include <algorithm>
#include <utility>

#include "apps/feed/api_support.h"
#include "apps/feed/media_store.h"
#include "base/utf8.h"
#include "kit/json_fields.h"
#include "kit/multipart.h"

namespace hearth::feed {
namespace {

constexpr char kCaptionTooLong[] = "a caption has at most 2200 characters";

bool IsForm(std::string_view content_type) {
  constexpr std::string_view kForm = "multipart/form-data";
  return content_type.size() >= kForm.size() &&
         std::equal(kForm.begin(), kForm.end(), content_type.begin(), [](char wanted, char sent) {
           return wanted ==
                  (sent >= 'A' && sent <= 'Z' ? static_cast<char>(sent - 'A' + 'a') : sent);
         });
}

// Browsers send an input in which nothing was chosen as a part without a name and without content.
bool IsImage(const kit::FormPart& part) {
  return !part.file_name.empty() || (part.name == "images" && !part.content.empty());
}

}  // namespace

void PostsApi::AddTo(kit::Routes* routes) {
  const Gate gate(parts_.tokens);
  const auto signed_in = [&](kit::Response (PostsApi::*method)(const kit::Request&, int64_t)) {
    return gate.SignedIn([this, method](const kit::Request& request, int64_t viewer) {
      return (this->*method)(request, viewer);
    });
  };
  routes->Add("POST", "/posts", signed_in(&PostsApi::Create), {.body_bytes_max = kFormBytesMax});
  routes->Add(
      "GET", "/posts/:id",
      gate.Anyone([this](const kit::Request& request, const std::optional<int64_t>& viewer) {
        return GetPost(request, viewer);
      }));
  routes->Add("PATCH", "/posts/:id", signed_in(&PostsApi::EditCaption));
  routes->Add("DELETE", "/posts/:id", signed_in(&PostsApi::Delete));
  routes->Add("POST", "/posts/:id/like", signed_in(&PostsApi::Like));
  routes->Add("DELETE", "/posts/:id/like", signed_in(&PostsApi::Unlike));
  routes->Add("GET", "/media/:file",
              [this](const kit::Request& request) { return GetPicture(request); });
}

kit::Response PostsApi::Create(const kit::Request& request, int64_t viewer) {
  Draft draft;
  if (std::optional<kit::Response> wrong = ReadDraft(request, &draft)) return *std::move(wrong);
  const Result<User> user = parts_.users.Get(viewer);
  if (user.status().code() == Code::kNotFound) return AccountGone();
  if (!user.ok()) return Failed(user.status());
  MediaStore::Upload upload(parts_.media);
  std::vector<Media> media;
  if (std::optional<kit::Response> wrong = StorePictures(draft.images, &upload, &media)) {
    return *std::move(wrong);
  }
  // The pictures stay whatever comes now: a commit that was not answered may have happened.
  upload.Keep();
  const Result<Post> post = parts_.posts.Create(viewer, user->username, draft.caption, media);
  if (!post.ok()) return Failed(post.status());
  parts_.publish({.kind = FeedEvent::Kind::kPostCreated, .author_id = viewer, .post = post->key});
  return Tell(201, *post, std::nullopt);
}

std::optional<kit::Response> PostsApi::ReadDraft(const kit::Request& request, Draft* draft) {
  const std::string_view content_type = request.Header("content-type").value_or("");
  if (!IsForm(content_type)) {
    return Error(415, DefaultCode(415), "a post is sent as multipart/form-data");
  }
  const Result<std::vector<kit::FormPart>> form =
      kit::ParseMultipart(content_type, request.body(), kFormPartsMax);
  if (!form.ok()) return Error(400, DefaultCode(400), form.status().message());
  for (const kit::FormPart& part : *form) {
    if (IsImage(part)) {
      draft->images.push_back(part.content);
    } else if (part.name == "caption") {
      draft->caption = part.content;
    }
  }
  if (!IsValidUtf8(draft->caption)) {
    return Error(400, "invalid_caption", "the caption is not UTF-8");
  }
  if (CharactersIn(draft->caption) > kCaptionCharactersMax) {
    return Error(400, "caption_too_long", kCaptionTooLong);
  }
  if (draft->images.empty()) return Error(400, "no_images", "a post needs an image");
  if (draft->images.size() > kImagesMax) {
    return Error(400, "too_many_images", "a post has at most 10 images");
  }
  for (size_t i = 0; i < draft->images.size(); ++i) {
    if (draft->images[i].size() > MediaStore::kImageBytesMax) {
      return Error(413, "image_too_large",
                   "image " + std::to_string(i + 1) + " is larger than 5 MB");
    }
  }
  return std::nullopt;
}

std::optional<kit::Response> PostsApi::StorePictures(const std::vector<std::string_view>& images,
                                                     MediaStore::Upload* upload,
                                                     std::vector<Media>* media) {
  for (size_t i = 0; i < images.size(); ++i) {
    Result<Media> stored = upload->Add(images[i]);
    if (stored.status().code() == Code::kInvalidArgument) {
      return Error(400, "invalid_image",
                   "image " + std::to_string(i + 1) + ": " + stored.status().message());
    }
    if (!stored.ok()) return Failed(stored.status());
    media->push_back(*std::move(stored));
  }
  return std::nullopt;
}

kit::Response PostsApi::GetPost(const kit::Request& request,
                                const std::optional<int64_t>& viewer) const {
  const std::optional<int64_t> id = IdOf(request, "id");
  if (!id) return InvalidId("post");
  const Result<Post> post = parts_.posts.Get(*id);
  if (!post.ok()) return Refused(post.status());
  return Tell(200, *post, viewer);
}

kit::Response PostsApi::EditCaption(const kit::Request& request, int64_t viewer) {
  const std::optional<int64_t> id = IdOf(request, "id");
  if (!id) return InvalidId("post");
  kit::JsonFields fields = kit::JsonFields::Parse(request.body());
  const std::string caption = fields.Text("caption", {.characters_max = request.body().size()});
  if (!fields.status().ok()) return Error(400, DefaultCode(400), fields.status().message());
  if (CharactersIn(caption) > kCaptionCharactersMax) {
    return Error(400, "caption_too_long", kCaptionTooLong);
  }
  const Result<Post> post = parts_.posts.EditCaption(*id, viewer, caption);
  if (!post.ok()) return Refused(post.status());
  return Tell(200, *post, viewer);
}

kit::Response PostsApi::Delete(const kit::Request& request, int64_t viewer) {
  const std::optional<int64_t> id = IdOf(request, "id");
  if (!id) return InvalidId("post");
  const Result<Post> post = parts_.posts.Delete(*id, viewer);
  if (!post.ok()) return Refused(post.status());
  parts_.publish({.kind = FeedEvent::Kind::kPostDeleted, .author_id = viewer, .post = post->key});
  return NoContent();
}

kit::Response PostsApi::Like(const kit::Request& request, int64_t viewer) {
  const std::optional<int64_t> id = IdOf(request, "id");
  if (!id) return InvalidId("post");
  const Status liked = parts_.posts.Like(*id, viewer);
  if (liked.code() == Code::kAlreadyExists) {
    return Error(409, "already_liked", "you like this post already");
  }
  if (!liked.ok()) return Refused(liked);
  const Result<Post> post = parts_.posts.Get(*id);
  if (!post.ok()) return Refused(post.status());
  return kit::Response::Json({{"liked", true}, {"like_count", post->like_count}}, 201);
}

kit::Response PostsApi::Unlike(const kit::Request& request, int64_t viewer) {
  const std::optional<int64_t> id = IdOf(request, "id");
  if (!id) return InvalidId("post");
  const Status unliked = parts_.posts.Unlike(*id, viewer);
  if (unliked.ok()) return NoContent();
  // Whether it is the post that is not there, or the like.
  if (unliked.code() == Code::kNotFound && parts_.posts.Get(*id).ok()) {
    return Error(404, "not_liked", "you do not like this post");
  }
  return Refused(unliked);
}

kit::Response PostsApi::GetPicture(const kit::Request& request) const {
  Result<std::string> picture = parts_.media.Read(request.Parameter("file"));
  if (picture.status().code() == Code::kNotFound) {
    return Error(404, DefaultCode(404), "there is no such picture");
  }
  if (!picture.ok()) return Failed(picture.status());
  return {.content_type = "image/webp",
          .body = *std::move(picture),
          // Named by what they hold: another picture has another name.
          .headers = {{"cache-control", "public, max-age=31536000, immutable"}}};
}

kit::Response PostsApi::Tell(int status, const Post& post,
                             const std::optional<int64_t>& viewer) const {
  const Result<nlohmann::json> posts = ToJson(std::vector<Post>{post}, parts_.posts, viewer);
  if (!posts.ok()) return Failed(posts.status());
  return kit::Response::Json(posts->front(), status);
}

kit::Response PostsApi::Refused(const Status& status) {
  if (status.code() == Code::kNotFound) return Missing("post");
  if (status.code() == Code::kPermissionDenied) {
    return Error(403, "not_owner", "this post is not yours");
  }
  return Failed(status);
}

}  // namespace hearth::feed
