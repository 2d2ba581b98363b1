#pragma once

#include <cstddef>
#include <optional>

#include "apps/feed/api/api.h"
#include "kit/web/routes.h"

namespace hearth::feed {

// Public profiles, and follows.
//
// Threads: safe for concurrent use.
class UsersApi {
 public:
  static constexpr size_t kUsersPerPage = 20;
  static constexpr size_t kFoundUsersMax = 20;
  static constexpr size_t kSearchCharactersMax = 100;

  explicit UsersApi(const ApiParts& parts) : parts_(parts) {}

  void AddTo(kit::Routes* routes);

 private:
  using Viewer = std::optional<UserId>;
  enum class Side : uint8_t { kFollowers, kFollowing };

  kit::Response GetThumbnails(const kit::Request& request) const;
  kit::Response Search(const kit::Request& request, const Viewer& viewer) const;
  kit::Response GetUser(const kit::Request& request, const Viewer& viewer) const;
  kit::Response List(Side side, const kit::Request& request, const Viewer& viewer) const;
  kit::Response Follow(const kit::Request& request, UserId viewer);
  kit::Response Unfollow(const kit::Request& request, UserId viewer);

  // Includes whether the viewer follows them, with one read.
  Result<nlohmann::json> UsersJson(const std::vector<User>& users, const Viewer& viewer) const;

  const ApiParts parts_;
};

}  // namespace hearth::feed
