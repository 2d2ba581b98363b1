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

// The newest posts of many authors before a position, straight from the database.
//
// Authors are queried in groups, as many as one query may name. Each group bounds the next: posts
// older than the last one wanted so far are excluded. So the number of documents read is little
// more than the size of the result, regardless of the number of authors. Authors known to have
// posted recently come first, which makes the first bound a good one. This knowledge only affects
// the order of queries, never the result.
//
// Threads: safe for concurrent use. Ownership: borrows the random source.
class FollowedPosts {
 public:
  // Firestore's limit per query.
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

  // Records a post that was seen elsewhere, to improve the query order.
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
