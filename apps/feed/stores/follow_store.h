#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/feed/stores/collections.h"
#include "base/clock.h"
#include "base/status.h"

namespace hearth::feed {

// The accounts that a user follows. The version rises by one with every change; 0 if the user never
// followed anyone.
struct Following {
  int64_t version = 0;
  std::vector<UserId> ids;  // Ascending.
};

client::Map ToDocument(const Following& following);

// Follows, in both directions, and their counts on the accounts.
//
// Threads: safe for concurrent use. Errors: InvalidArgument for following oneself and beyond
// kFollowingMax; AlreadyExists, NotFound.
class FollowStore {
 public:
  // Fits a document several times over.
  static constexpr size_t kFollowingMax = 10'000;
  static constexpr size_t kFollowersPerRead = 1'000;

  FollowStore(const Clock& clock, Collections collections);

  // Returns the new version of `user`'s list. NotFound if the account does not exist.
  Result<int64_t> Follow(UserId user, UserId followed);
  // NotFound if `user` did not follow.
  Result<int64_t> Unfollow(UserId user, UserId followed);
  Result<Following> Get(UserId user) const;
  Result<bool> IsFollowing(UserId user, UserId followed) const;

  // Newest first, in pages; the cursor is that of the last item of the previous page: when, and
  // whom.
  struct Edge {
    UserId user_id;
    int64_t followed_seconds;
  };
  struct EdgePage {
    std::vector<Edge> edges;
    bool has_more = false;
  };
  Result<EdgePage> ListFollowers(UserId user, const std::optional<Edge>& before,
                                 size_t limit) const;
  Result<EdgePage> ListFollowing(UserId user, const std::optional<Edge>& before,
                                 size_t limit) const;
  // All followers, at most kFollowersPerRead at a time. Stops at the first error that `on_some`
  // returns.
  Status ForEachFollower(UserId user,
                         const std::function<Status(const std::vector<UserId>&)>& on_some) const;

  // Authors whose posts are pulled. This is permanent.
  Result<std::vector<UserId>> PulledAuthors() const;
  Status AddPulledAuthor(UserId author);
  // The list of a user and the pulled authors, in one read.
  struct Sources {
    Following following;
    std::vector<UserId> pulled;  // Those of `following` whose posts are pulled. Ascending.
  };
  Result<Sources> GetSources(UserId user) const;

 private:
  const Clock& clock_;
  const Collections collections_;
};

}  // namespace hearth::feed
