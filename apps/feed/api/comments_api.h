#pragma once

#include <chrono>
#include <cstddef>

#include "apps/feed/api/api.h"
#include "kit/jobs/quota.h"
#include "kit/web/routes.h"

namespace hearth::feed {

// Comments on posts.
//
// Threads: safe for concurrent use.
class CommentsApi {
 public:
  static constexpr size_t kCommentsPerPage = 20;
  static constexpr size_t kTextCharactersMax = 2'200;

  static constexpr std::chrono::hours kCommentsWindow{1};
  static constexpr size_t kCommentsKeysMax = 100'000;

  explicit CommentsApi(const ApiParts& parts)
      : parts_(parts),
        comments_(parts_.clock, parts_.limits.comments_per_hour, kCommentsWindow,
                  kCommentsKeysMax) {}

  void AddTo(kit::Routes* routes);

 private:
  kit::Response List(const kit::Request& request) const;
  kit::Response Create(const kit::Request& request, UserId viewer);
  kit::Response Delete(const kit::Request& request, UserId viewer);

  // Whether the post or the comment is missing.
  kit::Response MissingOf(PostId post_id) const;

  const ApiParts parts_;
  kit::QuotaWindows comments_;  // By user.
};

}  // namespace hearth::feed
