#include "apps/feed/api/api.h"

#include "apps/feed/api/api_support.h"
#include "apps/feed/api/auth_api.h"
#include "apps/feed/api/comments_api.h"
#include "apps/feed/api/feed_api.h"
#include "apps/feed/api/posts_api.h"
#include "apps/feed/api/users_api.h"

namespace hearth::feed {

Api::Api(const ApiParts& parts)
    : auth_(std::make_unique<AuthApi>(parts)),
      users_(std::make_unique<UsersApi>(parts)),
      posts_(std::make_unique<PostsApi>(parts)),
      comments_(std::make_unique<CommentsApi>(parts)),
      feed_(std::make_unique<FeedApi>(parts)) {}

Api::~Api() = default;

void Api::AddTo(kit::Routes* routes) {
  routes->SetErrorBody([](int status, const std::string& message) {
    return ErrorBody(DefaultCode(status), message);
  });
  routes->SetNotFound("there is no such endpoint");
  auth_->AddTo(routes);
  users_->AddTo(routes);
  posts_->AddTo(routes);
  comments_->AddTo(routes);
  feed_->AddTo(routes);
}

}  // namespace hearth::feed
