#include "apps/feed/stores/post.h"

#include <set>
#include <utility>

#include "apps/feed/stores/documents.h"

namespace hearth::feed {

std::vector<std::string> FilesOf(const std::vector<Media>& media) {
  std::set<std::string> files;
  for (const Media& one : media) files.insert({one.file, one.thumbnail});
  return {files.begin(), files.end()};
}

client::Array ToArray(const std::vector<std::string>& texts) {
  return client::Array(texts.begin(), texts.end());
}

client::Map ToDocument(const Post& post) {
  client::Array media;
  media.reserve(post.media.size());
  for (const Media& one : post.media) {
    media.emplace_back(client::Map{{"file", one.file},
                                   {"thumbnail", one.thumbnail},
                                   {"width", one.width},
                                   {"height", one.height}});
  }
  return {{"id", ToNumber(post.key.id)},
          {"user_id", ToNumber(post.user_id)},
          {"username", post.username},
          {"caption", post.caption},
          {"created_at", ToTimestamp(post.key.created_seconds)},
          {"like_count", post.like_count},
          {"comment_count", post.comment_count},
          // Queries for posts that are not deleted filter on null, which a missing field does not
          // match.
          {"deleted_at", nullptr},
          {"media", std::move(media)},
          {kFilesField, ToArray(FilesOf(post.media))}};
}

Result<Post> ReadPost(const client::DocumentSnapshot& document) {
  const client::Map fields = document.Data();
  Post post = {.key = {.created_seconds = SecondsOf(fields, "created_at"),
                       .id = ReadId<PostId>(fields, "id")},
               .user_id = ReadId<UserId>(fields, "user_id"),
               .username = TextOf(fields, "username"),
               .caption = TextOf(fields, "caption"),
               .like_count = IntegerOf(fields, "like_count"),
               .comment_count = IntegerOf(fields, "comment_count"),
               .is_deleted = false,
               .media = {}};
  const auto deleted_at = fields.find("deleted_at");
  const auto media = fields.find("media");
  if (!IsValid(post.key.id) || post.key.created_seconds <= 0 || !IsValid(post.user_id) ||
      deleted_at == fields.end() || media == fields.end() || media->second.array() == nullptr) {
    return NotOurs(document, "post");
  }
  post.is_deleted = !deleted_at->second.IsNull();
  for (const client::Value& one : *media->second.array()) {
    if (one.map() == nullptr) return NotOurs(document, "post");
    post.media.push_back({.file = TextOf(*one.map(), "file"),
                          .thumbnail = TextOf(*one.map(), "thumbnail"),
                          .width = IntegerOf(*one.map(), "width"),
                          .height = IntegerOf(*one.map(), "height")});
  }
  return post;
}

}  // namespace hearth::feed
