#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/feed/api/api.h"
#include "apps/feed/media/media_store.h"
#include "kit/jobs/quota.h"
#include "kit/web/routes.h"

namespace hearth::feed {

// Posts, their pictures, and likes.
//
// Threads: safe for concurrent use.
class PostsApi {
 public:
  static constexpr size_t kImagesMax = 10;
  static constexpr size_t kCaptionCharactersMax = 2'200;
  // Parts of a form: the images, the caption, and some unknown ones.
  static constexpr size_t kFormPartsMax = 32;
  // Size of an upload request. One image too many, or one that is too large, still fits, so that it
  // is rejected with a specific error.
  static constexpr size_t kUploadBytesMax = 12 * MediaStore::kImageBytesMax + 1024 * 1024;

  static constexpr std::chrono::hours kPostsWindow{1};
  static constexpr size_t kPostsKeysMax = 100'000;

  explicit PostsApi(const ApiParts& parts)
      : parts_(parts),
        posts_(parts_.clock, parts_.limits.posts_per_hour, kPostsWindow, kPostsKeysMax) {}

  void AddTo(kit::Routes* routes);

 private:
  // The parsed upload of a post. Borrows from the request.
  struct Form {
    std::string caption = {};
    std::vector<std::string_view> images = {};
  };

  kit::Response Create(const kit::Request& request, UserId viewer);
  kit::Response GetPost(const kit::Request& request, const std::optional<UserId>& viewer) const;
  kit::Response EditCaption(const kit::Request& request, UserId viewer);
  kit::Response Delete(const kit::Request& request, UserId viewer);
  kit::Response Like(const kit::Request& request, UserId viewer);
  kit::Response Unlike(const kit::Request& request, UserId viewer);
  kit::Response GetPicture(const kit::Request& request) const;

  // An error response, or nullopt and the form.
  static std::optional<kit::Response> ReadForm(const kit::Request& request, Form* form);
  // An error response for the invalid ones, or nullopt and all pictures.
  static std::optional<kit::Response> AddPictures(const std::vector<std::string_view>& images,
                                                  MediaStore::Upload* upload,
                                                  std::vector<Media>* media);
  kit::Response Tell(int status, const Post& post, const std::optional<UserId>& viewer) const;
  // The response to a failed operation that only the owner may perform.
  static kit::Response Refused(const Status& status);

  const ApiParts parts_;
  kit::QuotaWindows posts_;  // By user.
};

}  // namespace hearth::feed
