#include "apps/feed/api/posts_api.h"

#include <algorithm>
#include <utility>

#include "apps/feed/api/api_support.h"
#include "base/log.h"
#include "base/utf8.h"
#include "kit/web/json_fields.h"
#include "kit/web/multipart.h"
#include "kit/web/negotiation.h"

namespace hearth::feed {
namespace {

constexpr char kCaptionTooLong[] = "a caption can have at most 2200 characters";

bool IsForm(std::string_view content_type) {
  constexpr std::string_view kForm = "multipart/form-data";
  return content_type.size() >= kForm.size() &&
         std::equal(kForm.begin(), kForm.end(), content_type.begin(), [](char wanted, char sent) {
           return wanted ==
                  (sent >= 'A' && sent <= 'Z' ? static_cast<char>(sent - 'A' + 'a') : sent);
         });
}

// For an empty file input browsers send a part without a name and without content.
bool IsImage(const kit::FormPart& part) {
  return !part.file_name.empty() || (part.name == "images" && !part.content.empty());
}

// Browsers end lines of form text with CR LF.
std::string WithPlainLineEnds(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (!text.substr(i).starts_with("\r\n")) plain += text[i];
  }
  return plain;
}

struct BadImage {
  size_t position;  // Among the media of the post, from 0.
  std::string reason;
};

// Lists every rejected image, so that the sender can fix them all at once.
kit::Response ImagesRefused(int status, std::string_view code, const std::vector<BadImage>& bad) {
  std::string message;
  nlohmann::json images = nlohmann::json::array();
  for (const BadImage& image : bad) {
    if (!message.empty()) message += "; ";
    message += "image " + std::to_string(image.position + 1) + ": " + image.reason;
    images.push_back({{"position", image.position}, {"message", image.reason}});
  }
  nlohmann::json body = ErrorBody(code, message);
  body.at("error")["images"] = std::move(images);
  return kit::Response::Json(body, status);
}

}  // namespace

void PostsApi::AddTo(kit::Routes* routes) {
  const Gate gate(parts_.tokens);
  const auto signed_in = [&](kit::Response (PostsApi::*method)(const kit::Request&, UserId)) {
    return gate.SignedIn([this, method](const kit::Request& request, UserId viewer) {
      return (this->*method)(request, viewer);
    });
  };
  routes->Add("POST", "/posts", signed_in(&PostsApi::Create),
              {.body_bytes_max = kUploadBytesMax, .work = kit::Work::kUpload});
  routes->Add("GET", "/posts/:id",
              gate.Anyone([this](const kit::Request& request, const std::optional<UserId>& viewer) {
                return GetPost(request, viewer);
              }));
  routes->Add("PATCH", "/posts/:id", signed_in(&PostsApi::EditCaption));
  routes->Add("DELETE", "/posts/:id", signed_in(&PostsApi::Delete));
  routes->Add("POST", "/posts/:id/like", signed_in(&PostsApi::Like));
  routes->Add("DELETE", "/posts/:id/like", signed_in(&PostsApi::Unlike));
  routes->Add("GET", "/media/:file",
              [this](const kit::Request& request) { return GetPicture(request); });
}

kit::Response PostsApi::Create(const kit::Request& request, UserId viewer) {
  Form form;
  if (std::optional<kit::Response> wrong = ReadForm(request, &form)) return *std::move(wrong);
  const Result<User> user = parts_.core.users().Get(viewer);
  if (user.status().code() == Code::kNotFound) return AccountGone();
  if (!user.ok()) return Failed(user.status());
  // Pictures that are refused count too: decoding them is most of the work.
  const kit::QuotaWindows::Outcome quota = posts_.Spend(ToText(viewer));
  if (!quota.allowed) return TooMany("you have posted too often", quota.until_reset);
  MediaStore::Upload upload(parts_.media, ToText(viewer));
  std::vector<Media> media;
  if (std::optional<kit::Response> wrong = AddPictures(form.images, &upload, &media)) {
    return *std::move(wrong);
  }
  const Result<Post> post = parts_.core.CreatePost(*user, form.caption, media);
  if (!post.ok()) {
    if (MayHaveBeenCreated(post.status())) upload.KeepInDoubt();
    return Failed(post.status());
  }
  upload.Keep();
  return Tell(201, *post, std::nullopt);
}

std::optional<kit::Response> PostsApi::ReadForm(const kit::Request& request, Form* form) {
  const std::string_view content_type = request.Header("content-type").value_or("");
  if (!IsForm(content_type)) {
    return Error(415, DefaultCode(415), "a post must be sent as multipart/form-data");
  }
  const Result<std::vector<kit::FormPart>> parts =
      kit::ParseMultipart(content_type, request.body(), kFormPartsMax);
  if (!parts.ok()) return Error(400, DefaultCode(400), parts.status().message());
  for (const kit::FormPart& part : *parts) {
    if (IsImage(part)) {
      form->images.push_back(part.content);
    } else if (part.name == "caption") {
      form->caption = WithPlainLineEnds(part.content);
    }
  }
  if (!IsValidUtf8(form->caption)) {
    return Error(400, "invalid_caption", "the caption is not UTF-8");
  }
  if (CharactersIn(form->caption) > kCaptionCharactersMax) {
    return Error(400, "caption_too_long", kCaptionTooLong);
  }
  if (form->images.empty()) return Error(400, "no_images", "a post needs an image");
  if (form->images.size() > kImagesMax) {
    return Error(400, "too_many_images", "a post can have at most 10 images");
  }
  std::vector<BadImage> bad;
  for (size_t i = 0; i < form->images.size(); ++i) {
    if (form->images[i].size() <= MediaStore::kImageBytesMax) continue;
    bad.push_back({.position = i, .reason = "the file is larger than 5 MB"});
  }
  if (!bad.empty()) return ImagesRefused(413, "image_too_large", bad);
  return std::nullopt;
}

std::optional<kit::Response> PostsApi::AddPictures(const std::vector<std::string_view>& images,
                                                   MediaStore::Upload* upload,
                                                   std::vector<Media>* media) {
  std::vector<BadImage> bad;
  for (size_t i = 0; i < images.size(); ++i) {
    Result<Media> added = upload->Add(images[i]);
    if (added.status().code() == Code::kInvalidArgument) {
      bad.push_back({.position = i, .reason = added.status().message()});
    } else if (added.status().code() == Code::kResourceExhausted) {
      kit::Response busy = Error(503, DefaultCode(503), added.status().message());
      busy.headers.emplace_back("retry-after", "5");
      return busy;
    } else if (!added.ok()) {
      return Failed(added.status());
    } else {
      media->push_back(*std::move(added));
    }
  }
  if (!bad.empty()) return ImagesRefused(400, "invalid_image", bad);
  return std::nullopt;
}

kit::Response PostsApi::GetPost(const kit::Request& request,
                                const std::optional<UserId>& viewer) const {
  const std::optional<PostId> id = IdOf<PostId>(request, "id");
  if (!id) return InvalidId("post");
  const Result<Post> post = parts_.core.posts().Get(*id);
  if (!post.ok()) return Refused(post.status());
  return Tell(200, *post, viewer);
}

kit::Response PostsApi::EditCaption(const kit::Request& request, UserId viewer) {
  const std::optional<PostId> id = IdOf<PostId>(request, "id");
  if (!id) return InvalidId("post");
  kit::JsonFields fields = kit::JsonFields::Parse(request.body());
  const std::string caption = fields.Text("caption", {.characters_max = request.body().size()});
  if (!fields.status().ok()) return Error(400, DefaultCode(400), fields.status().message());
  if (CharactersIn(caption) > kCaptionCharactersMax) {
    return Error(400, "caption_too_long", kCaptionTooLong);
  }
  const Result<Post> post = parts_.core.EditCaption(*id, viewer, caption);
  if (!post.ok()) return Refused(post.status());
  return Tell(200, *post, viewer);
}

kit::Response PostsApi::Delete(const kit::Request& request, UserId viewer) {
  const std::optional<PostId> id = IdOf<PostId>(request, "id");
  if (!id) return InvalidId("post");
  const Status deleted = parts_.core.DeletePost(*id, viewer);
  if (!deleted.ok()) return Refused(deleted);
  // The post is deleted in any case.
  if (const Status removed = parts_.removal.Finish(*id); !removed.ok()) {
    Log(LogLevel::kWarning, "feed: the pictures of a deleted post are removed later",
        {{"post", ToText(*id)}, {"reason", removed.ToString()}});
  }
  return NoContent();
}

kit::Response PostsApi::Like(const kit::Request& request, UserId viewer) {
  const std::optional<PostId> id = IdOf<PostId>(request, "id");
  if (!id) return InvalidId("post");
  const Status liked = parts_.core.Like(*id, viewer);
  if (liked.code() == Code::kAlreadyExists) {
    return Error(409, "already_liked", "you already like this post");
  }
  if (!liked.ok()) return Refused(liked);
  const Result<Post> post = parts_.core.posts().Get(*id);
  if (!post.ok()) return Refused(post.status());
  return kit::Response::Json({{"liked", true}, {"like_count", post->like_count}}, 201);
}

kit::Response PostsApi::Unlike(const kit::Request& request, UserId viewer) {
  const std::optional<PostId> id = IdOf<PostId>(request, "id");
  if (!id) return InvalidId("post");
  const Status unliked = parts_.core.Unlike(*id, viewer);
  if (unliked.ok()) return NoContent();
  // Tells a missing post from a missing like.
  if (unliked.code() == Code::kNotFound && parts_.core.posts().Get(*id).ok()) {
    return Error(404, "not_liked", "you do not like this post");
  }
  return Refused(unliked);
}

kit::Response PostsApi::GetPicture(const kit::Request& request) const {
  const std::string& file = request.Parameter("file");
  const std::string etag = "\"" + file.substr(0, file.find('.')) + "\"";
  const std::pair<std::string, std::string> headers[] = {
      // A deleted picture must not be shown any longer: no shared cache keeps it, and browsers ask
      // each time whether it still exists.
      {"cache-control", "private, no-cache"},
      {"etag", etag}};
  const std::optional<std::string_view> known = request.Header("if-none-match");
  if (known && kit::MatchesEtag(*known, etag) && parts_.media.Has(file)) {
    return {.status = 304, .headers = {std::begin(headers), std::end(headers)}};
  }
  Result<std::string> picture = parts_.media.Read(file);
  if (picture.status().code() == Code::kNotFound) {
    return Error(404, DefaultCode(404), "there is no such picture");
  }
  if (!picture.ok()) return Failed(picture.status());
  return {.content_type = "image/webp",
          .body = *std::move(picture),
          .headers = {std::begin(headers), std::end(headers)}};
}

kit::Response PostsApi::Tell(int status, const Post& post,
                             const std::optional<UserId>& viewer) const {
  const Result<nlohmann::json> posts = ToJson(std::vector<Post>{post}, parts_.core.posts(), viewer);
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
