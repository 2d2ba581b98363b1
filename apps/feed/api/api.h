#pragma once

#include <memory>
#include <string>

#include "apps/feed/api/limits.h"
#include "apps/feed/core/feed_core.h"
#include "apps/feed/media/media_store.h"
#include "apps/feed/media/picture_removal.h"
#include "apps/feed/stores/tokens.h"
#include "base/clock.h"
#include "base/memory_budget.h"
#include "kit/web/routes.h"
#include "kit/web/session.h"

namespace hearth::feed {

// Dependencies of the API. All are borrowed and must outlive the routes.
struct ApiParts {
  const Clock& clock;
  FeedCore& core;
  Tokens& tokens;
  const kit::SessionSigner& signer;
  MediaStore& media;
  PictureRemoval& removal;
  LimitOptions limits = {};
  MemoryBudget* memory = nullptr;    // For hashing passwords; null: no limit.
  std::string operator_secret = {};  // The token that shows all of /health; empty: nothing does.
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
