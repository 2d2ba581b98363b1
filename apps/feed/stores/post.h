#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/feed/ids/post_key.h"
#include "base/status.h"
#include "client/snapshot.h"
#include "client/value.h"

namespace hearth::feed {

// One picture of a post. Files are names in the media store: "ab12...ef.webp".
struct Media {
  std::string file;
  std::string thumbnail;
  int64_t width = 0;
  int64_t height = 0;

  friend bool operator==(const Media&, const Media&) = default;
};

struct Post {
  PostKey key;
  UserId user_id = {};
  std::string username;  // Accounts keep their names, so that posts can carry them.
  std::string caption;
  int64_t like_count = 0;
  int64_t comment_count = 0;
  bool is_deleted = false;
  std::vector<Media> media;
};

// The document of a post; created_at is whole seconds.
client::Map ToDocument(const Post& post);
// DataLoss for a document that is no post.
Result<Post> ReadPost(const client::DocumentSnapshot& document);

}  // namespace hearth::feed
