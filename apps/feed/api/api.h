#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/feed/media/media_store.h"
#include "apps/feed/queue/feed_queue.h"
#include "apps/feed/stores/comment_store.h"
#include "apps/feed/stores/follow_store.h"
#include "apps/feed/stores/post_store.h"
#include "apps/feed/stores/tokens.h"
#include "apps/feed/stores/user_store.h"
#include "base/clock.h"
#include "base/status.h"
#include "kit/web/routes.h"

namespace hearth::feed {

// What the API needs. All borrowed: they must outlive the routes. The functions are called by many
// threads at a time.
struct ApiParts {
  const Clock& clock;
  UserStore& users;
  FollowStore& follows;
  PostStore& posts;
  CommentStore& comments;
  Tokens& tokens;
  MediaStore& media;

  // The posts of those whom a user follows, kPostsPerPage at most.
  std::function<Result<PostPage>(int64_t user, const std::optional<PostKey>& before)> home_page;
  // Called after the commit; what fails of it must not fail the request.
  std::function<void(const FeedEvent& event)> publish;
  // Has {"database": {"ok"}}, at least.
  std::function<nlohmann::json()> health;
};

class AuthApi;
class CommentsApi;
class FeedApi;
class PostsApi;
class UsersApi;

// All endpoints.
//
// Threads: safe for concurrent use. Ownership: must outlive the routes that it was added to.
class Api {
 public:
  explicit Api(const ApiParts& parts);
  ~Api();

  void AddTo(kit::Routes* routes);

 private:
  const std::unique_ptr<AuthApi> auth_;
  const std::unique_ptr<UsersApi> users_;
  const std::unique_ptr<PostsApi> posts_;
  const std::unique_ptr<CommentsApi> comments_;
  const std::unique_ptr<FeedApi> feed_;
};

}  // namespace hearth::feed
