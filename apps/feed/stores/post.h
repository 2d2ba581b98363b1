#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/feed/ids/post_key.h"
#include "base/status.h"
#include "client/snapshot.h"
#include "client/value.h"

namespace hearth::feed {

// One picture of a post. File names are names in the media store: "ab12...ef.webp".
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
  std::string username;  // Usernames never change, so posts can contain them.
  std::string caption;
  int64_t like_count = 0;
  int64_t comment_count = 0;
  bool is_deleted = false;
  std::vector<Media> media;
};

// The field with the names of all files of a post, each once. Queries find by it the posts that
// need a file. Deleted posts do not have it.
inline constexpr char kFilesField[] = "files";
std::vector<std::string> FilesOf(const std::vector<Media>& media);
client::Array ToArray(const std::vector<std::string>& texts);

// The document of a post; created_at is in whole seconds.
client::Map ToDocument(const Post& post);
// DataLoss if the document is not a post.
Result<Post> ReadPost(const client::DocumentSnapshot& document);

}  // namespace hearth::feed
