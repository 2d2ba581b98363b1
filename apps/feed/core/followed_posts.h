#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "apps/feed/stores/collections.h"
#include "apps/feed/stores/post.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/status.h"

namespace hearth::feed {

// The newest posts of many authors before a place, straight from the database.
//
// Authors are asked about by groups, as many as one query may name. After each group, posts older
// than the last one wanted so far are of no interest, so that the groups which follow return only
// what is newer: few documents more than the result has, however many authors there are. Authors
// who are known to have posted lately come first, which makes the first bound a good one. What is
// known about them only chooses the order: it cannot make the result wrong.
//
// Threads: safe for concurrent use. Ownership: borrows the source of randomness.
class FollowedPosts {
 public:
  // As many as Firestore allows in one query.
  static constexpr size_t kAuthorsPerQuery = 30;
  // Authors whose newest post is remembered.
  static constexpr size_t kKnownAuthorsMax = 200'000;

  FollowedPosts(Collections collections, RandomSource& random);

  // At most `limit` posts, newest first, none of them deleted, strictly before `before` and not
  // older than `oldest`.
  Result<std::vector<Post>> Find(const std::vector<UserId>& authors,
                                 const std::optional<PostKey>& before, size_t limit,
                                 const std::optional<PostKey>& oldest = std::nullopt)
      EXCLUDES_LOCK(mutex_);

  // A post that was seen elsewhere: helps to ask in a good order.
  void Note(UserId author, PostKey post) EXCLUDES_LOCK(mutex_);

 private:
  std::vector<UserId> InGoodOrder(std::vector<UserId> authors) EXCLUDES_LOCK(mutex_);
  Result<std::vector<Post>> FindOfGroup(const std::vector<UserId>& group,
                                        const std::optional<PostKey>& before, size_t limit,
                                        const std::optional<PostKey>& oldest) const;

  const Collections collections_;
  RandomSource& random_;
  Mutex mutex_;  // Leaf lock.
  std::unordered_map<UserId, PostKey> newest_ GUARDED_BY(mutex_);
};

}  // namespace hearth::feed
