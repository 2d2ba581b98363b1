#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/feed/api/api.h"
#include "apps/feed/media/media_store.h"
#include "kit/web/routes.h"

namespace hearth::feed {

// Posts, their pictures, and likes.
//
// Threads: safe for concurrent use.
class PostsApi {
 public:
  static constexpr size_t kImagesMax = 10;
  static constexpr size_t kCaptionCharactersMax = 2'200;
  // Of a form: the images, the caption, and some that nobody asked for.
  static constexpr size_t kFormPartsMax = 32;
  // Of a request with them. One image more than allowed, or one that is too large, fits, so that it
  // is refused for what is wrong with it.
  static constexpr size_t kUploadBytesMax = 12 * MediaStore::kImageBytesMax + 1024 * 1024;

  explicit PostsApi(const ApiParts& parts) : parts_(parts) {}

  void AddTo(kit::Routes* routes);

 private:
  // A post as it was sent. Borrows from the request.
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

  // What is wrong with it, or nullopt and the form.
  static std::optional<kit::Response> ReadForm(const kit::Request& request, Form* form);
  // What is wrong with some of them, or nullopt and all of them.
  static std::optional<kit::Response> AddPictures(const std::vector<std::string_view>& images,
                                                  MediaStore::Upload* upload,
                                                  std::vector<Media>* media);
  kit::Response Tell(int status, const Post& post, const std::optional<UserId>& viewer) const;
  // Of what only its owner may do.
  static kit::Response Refused(const Status& status);

  const ApiParts parts_;
};

}  // namespace hearth::feed
