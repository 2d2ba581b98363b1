#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/feed/stores/collections.h"
#include "apps/feed/stores/post_store.h"
#include "base/clock.h"
#include "base/status.h"

namespace hearth::feed {

struct Comment {
  CommentId id = {};
  PostId post_id = {};
  UserId user_id = {};
  std::string username;
  std::string text;                    // Empty once it is deleted.
  std::optional<CommentId> parent_id;  // Of a reply: what it replies to.
  int64_t created_seconds = 0;
  int64_t reply_count = 0;  // Without the deleted ones.
  bool is_deleted = false;
};

// What people say about posts: comments and, one level below them, replies.
//
// A deleted comment loses its text. It is listed for as long as it has replies, which would stand
// there without what they answer; without any it is not.
//
// Threads: safe for concurrent use. Ownership: borrows the clock and the posts. Errors: NotFound
// for posts and comments that are not there, or deleted.
class CommentStore {
 public:
  CommentStore(const Clock& clock, Collections collections, const PostStore& posts);

  struct Draft {
    PostId post_id;
    UserId user_id;
    std::string username;
    std::string text;
    std::optional<CommentId> parent_id = {};
  };
  // Gives it an id and the time, and counts it on the post. InvalidArgument for a reply to a reply.
  Result<Comment> Create(const Draft& draft);
  // By whoever wrote it, or the owner of the post; PermissionDenied for others.
  Status Delete(PostId post_id, CommentId comment_id, UserId user_id);

  // Oldest first, in pages; the cursor is that of the last one before.
  struct Page {
    std::vector<Comment> comments;
    bool has_more = false;
  };
  Result<Page> List(PostId post_id, const std::optional<CommentKey>& after, size_t limit) const;

 private:
  client::DocumentReference Doc(PostId post_id, CommentId id) const {
    return collections_.comments(post_id).Doc(ToText(id));
  }

  const Clock& clock_;
  const Collections collections_;
  const PostStore& posts_;
};

}  // namespace hearth::feed
