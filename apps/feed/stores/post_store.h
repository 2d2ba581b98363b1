#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/feed/stores/collections.h"
#include "apps/feed/stores/post.h"
#include "base/clock.h"
#include "base/status.h"

namespace hearth::feed {

// A page of posts, newest first.
struct PostPage {
  std::vector<Post> posts;
  bool has_more = false;
};

// Posts and their likes.
//
// Ids are assigned in commit order, without gaps, and `created_at` never decreases from one id to
// the next: the posts above an id are exactly those that came after it. The feed's cache relies on
// both.
//
// Threads: safe for concurrent use. Errors: NotFound for posts that are missing or deleted.
class PostStore {
 public:
  PostStore(const Clock& clock, Collections collections);

  // `created_seconds`: a time in the past, for demos, but never before the previous post. Default:
  // now. Counts the post on its author's account.
  Result<Post> Create(UserId user_id, const std::string& username, const std::string& caption,
                      const std::vector<Media>& media,
                      std::optional<int64_t> created_seconds = std::nullopt);
  Result<Post> Get(PostId id) const;
  // The posts that exist and are not deleted, in the order of the ids; others are omitted.
  Result<std::vector<Post>> GetAll(const std::vector<PostId>& ids) const;
  // PermissionDenied for another user's post.
  Result<Post> EditCaption(PostId id, UserId user_id, const std::string& caption);
  // Marks it as deleted, and notes that its pictures are to be removed (PictureUses), which the
  // returned post still has. PermissionDenied for another user's post; NotFound if already deleted.
  Result<Post> Delete(PostId id, UserId user_id);

  // Posts of one author, strictly before `before`.
  Result<PostPage> ListOf(UserId author_id, const std::optional<PostKey>& before,
                          size_t limit) const;
  // All posts after an id, including deleted ones, lowest id first.
  Result<std::vector<Post>> ListAfter(PostId id, size_t limit) const;
  // {} if there are none.
  Result<PostKey> Newest() const;

  // AlreadyExists and NotFound, also for concurrent calls.
  Status Like(PostId post_id, UserId user_id);
  Status Unlike(PostId post_id, UserId user_id);
  // Which of the posts the user likes.
  Result<std::vector<bool>> HasLiked(const std::vector<PostId>& post_ids, UserId user_id) const;

 private:
  const Clock& clock_;
  const Collections collections_;
};

// Whether a call of PostStore::Create that failed with this error may have created the post, or may
// still do so. These are the errors after which the client tries again: an attempt before the last
// one may have succeeded without an answer.
bool MayHaveBeenCreated(const Status& error);

}  // namespace hearth::feed
