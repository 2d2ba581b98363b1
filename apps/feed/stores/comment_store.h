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
  std::string text;                    // Empty once deleted.
  std::optional<CommentId> parent_id;  // For a reply: the parent comment.
  int64_t created_seconds = 0;
  int64_t reply_count = 0;  // Without deleted ones.
  bool is_deleted = false;
};

// Comments on posts, and replies one level below them.
//
// A deleted comment loses its text. It stays listed while it has replies, which would otherwise
// lack their parent.
//
// Threads: safe for concurrent use. Ownership: borrows the clock and the posts. Errors: NotFound
// for posts and comments that are missing or deleted.
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
  // Assigns an id and the time, and counts it on the post. InvalidArgument for a reply to a reply.
  Result<Comment> Create(const Draft& draft);
  // Allowed for its author and the post's owner; PermissionDenied for others.
  Status Delete(PostId post_id, CommentId comment_id, UserId user_id);

  // Oldest first, in pages; the cursor is that of the last item of the previous page.
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
