#pragma once

#include <cstddef>

#include "apps/feed/api/api.h"
#include "kit/web/routes.h"

namespace hearth::feed {

// Comments on posts.
//
// Threads: safe for concurrent use.
class CommentsApi {
 public:
  static constexpr size_t kCommentsPerPage = 20;
  static constexpr size_t kTextCharactersMax = 2'200;

  explicit CommentsApi(const ApiParts& parts) : parts_(parts) {}

  void AddTo(kit::Routes* routes);

 private:
  kit::Response List(const kit::Request& request) const;
  kit::Response Create(const kit::Request& request, UserId viewer);
  kit::Response Delete(const kit::Request& request, UserId viewer);

  // Whether the post or the comment is missing.
  kit::Response MissingOf(PostId post_id) const;

  const ApiParts parts_;
};

}  // namespace hearth::feed
