#pragma once

#include "apps/feed/api/api.h"
#include "kit/web/routes.h"

namespace hearth::feed {

// The home feed and the health of the application.
//
// Threads: safe for concurrent use.
class FeedApi {
 public:
  explicit FeedApi(const ApiParts& parts) : parts_(parts) {}

  void AddTo(kit::Routes* routes);

 private:
  kit::Response GetFeed(const kit::Request& request, UserId viewer) const;
  // Only the operator sees more than the status: the rest tells how much is in the database.
  kit::Response GetHealth(const kit::Request& request) const;

  const ApiParts parts_;
};

}  // namespace hearth::feed
