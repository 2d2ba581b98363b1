#include "apps/feed/stores/post_store.h"

#include <algorithm>
#include <utility>

#include "apps/feed/stores/documents.h"
#include "base/status_macros.h"

namespace hearth::feed {
namespace {

using client::Direction;
using client::FieldValue;
using client::Op;

Status NoSuchPost(PostId id) { return Status(Code::kNotFound, "no post " + ToText(id)); }

// A post that the user may change: NotFound if deleted, PermissionDenied for others' posts.
Result<Post> OwnedBy(UserId user_id, const client::DocumentSnapshot& document, PostId id) {
  if (!document.exists()) return NoSuchPost(id);
  ASSIGN_OR_RETURN(Post post, ReadPost(document));
  if (post.is_deleted) return NoSuchPost(id);
  if (post.user_id != user_id) {
    return Status(Code::kPermissionDenied, "post " + ToText(id) + " is another user's");
  }
  return post;
}

Result<std::vector<Post>> ReadPosts(const client::QuerySnapshot& snapshot) {
  std::vector<Post> posts;
  posts.reserve(snapshot.size());
  for (const client::DocumentSnapshot& document : snapshot.documents) {
    ASSIGN_OR_RETURN(Post post, ReadPost(document));
    posts.push_back(std::move(post));
  }
  return posts;
}

PostKey KeyOf(const client::DocumentSnapshot& counter) {
  const client::Map fields = counter.Data();
  return {.created_seconds = SecondsOf(fields, "last_created_at"),
          .id = ReadId<PostId>(fields, "last_id")};
}

}  // namespace

bool MayHaveBeenCreated(const Status& error) {
  switch (error.code()) {
    case Code::kAborted:
    case Code::kCancelled:
    case Code::kDeadlineExceeded:
    case Code::kInternal:
    case Code::kResourceExhausted:
    case Code::kUnauthenticated:
    case Code::kUnavailable:
    case Code::kUnknown:
      return true;
    default:
      return false;
  }
}

PostStore::PostStore(const Clock& clock, Collections collections)
    : clock_(clock), collections_(std::move(collections)) {}

Result<Post> PostStore::Create(UserId user_id, const std::string& username,
                               const std::string& caption, const std::vector<Media>& media,
                               std::optional<int64_t> created_seconds) {
  Post post = {
      .key = {}, .user_id = user_id, .username = username, .caption = caption, .media = media};
  const std::string maker = collections_.posts().Doc().id();
  const client::DocumentReference counter = collections_.counter("posts");
  RETURN_IF_ERROR(collections_.database().RunTransaction(
      [&](client::Transaction& transaction) -> Status {
        std::vector<client::DocumentReference> wanted = {counter};
        if (IsValid(post.key.id)) wanted.push_back(collections_.post(post.key.id));
        ASSIGN_OR_RETURN(const std::vector<client::DocumentSnapshot> read,
                         transaction.GetAll(wanted));
        if (read.size() > 1 && IsMadeBy(maker, read[1])) return Status();
        const PostKey before = KeyOf(read[0]);
        post.key = {.created_seconds = std::max(created_seconds.value_or(NowSeconds(clock_)),
                                                before.created_seconds),
                    .id = Next(before.id)};
        client::Map document = ToDocument(post);
        document[kMakerField] = maker;
        transaction.Create(collections_.post(post.key.id), document);
        transaction.Update(collections_.user(user_id), {{"post_count", FieldValue::Increment(1)}});
        transaction.Set(counter, {{"last_id", ToNumber(post.key.id)},
                                  {"last_created_at", ToTimestamp(post.key.created_seconds)}});
        return Status();
      },
      kContended));
  return post;
}

Result<Post> PostStore::Get(PostId id) const {
  ASSIGN_OR_RETURN(const client::DocumentSnapshot document, collections_.post(id).Get());
  if (!document.exists()) return NoSuchPost(id);
  ASSIGN_OR_RETURN(Post post, ReadPost(document));
  if (post.is_deleted) return NoSuchPost(id);
  return post;
}

Result<std::vector<Post>> PostStore::GetAll(const std::vector<PostId>& ids) const {
  std::vector<Post> posts;
  if (ids.empty()) return posts;
  std::vector<client::DocumentReference> documents;
  documents.reserve(ids.size());
  for (const PostId id : ids) documents.push_back(collections_.post(id));
  ASSIGN_OR_RETURN(const std::vector<client::DocumentSnapshot> snapshots,
                   collections_.database().GetAll(documents));
  posts.reserve(ids.size());
  for (const client::DocumentSnapshot& snapshot : snapshots) {
    if (!snapshot.exists()) continue;
    ASSIGN_OR_RETURN(Post post, ReadPost(snapshot));
    if (!post.is_deleted) posts.push_back(std::move(post));
  }
  return posts;
}

Result<Post> PostStore::EditCaption(PostId id, UserId user_id, const std::string& caption) {
  Post post;
  RETURN_IF_ERROR(
      collections_.database().RunTransaction([&](client::Transaction& transaction) -> Status {
        ASSIGN_OR_RETURN(const client::DocumentSnapshot document,
                         transaction.Get(collections_.post(id)));
        ASSIGN_OR_RETURN(post, OwnedBy(user_id, document, id));
        transaction.Update(collections_.post(id), {{"caption", caption}});
        return Status();
      }));
  post.caption = caption;
  return post;
}

Result<Post> PostStore::Delete(PostId id, UserId user_id) {
  Post post;
  RETURN_IF_ERROR(
      collections_.database().RunTransaction([&](client::Transaction& transaction) -> Status {
        ASSIGN_OR_RETURN(const client::DocumentSnapshot document,
                         transaction.Get(collections_.post(id)));
        ASSIGN_OR_RETURN(post, OwnedBy(user_id, document, id));
        transaction.Update(collections_.post(id),
                           {{"deleted_at", client::Timestamp::FromMicros(clock_.WallMicros())},
                            {"media", client::Array()},
                            {kFilesField, FieldValue::Delete()}});
        transaction.Set(collections_.removal(id), {{kFilesField, ToArray(FilesOf(post.media))}});
        transaction.Update(collections_.user(user_id), {{"post_count", FieldValue::Increment(-1)}});
        return Status();
      }));
  post.is_deleted = true;
  return post;
}

Result<PostPage> PostStore::ListOf(UserId author_id, const std::optional<PostKey>& before,
                                   size_t limit) const {
  client::Query query = collections_.posts()
                            .Where("user_id", Op::kEqual, ToNumber(author_id))
                            .Where("deleted_at", Op::kEqual, nullptr)
                            .OrderBy("created_at", Direction::kDescending)
                            .OrderBy("id", Direction::kDescending);
  if (before) {
    ASSIGN_OR_RETURN(const client::Timestamp created,
                     client::Timestamp::FromParts(before->created_seconds, 0));
    query = query.StartAfter({created, ToNumber(before->id)});
  }
  // One more than requested tells whether there are more.
  ASSIGN_OR_RETURN(const client::QuerySnapshot found, query.Limit(limit + 1).Get());
  PostPage page;
  ASSIGN_OR_RETURN(page.posts, ReadPosts(found));
  page.has_more = page.posts.size() > limit;
  if (page.has_more) page.posts.pop_back();
  return page;
}

Result<std::vector<Post>> PostStore::ListAfter(PostId id, size_t limit) const {
  ASSIGN_OR_RETURN(const client::QuerySnapshot found, collections_.posts()
                                                          .Where("id", Op::kGreater, ToNumber(id))
                                                          .OrderBy("id")
                                                          .Limit(limit)
                                                          .Get());
  return ReadPosts(found);
}

Result<PostKey> PostStore::Newest() const {
  ASSIGN_OR_RETURN(const client::DocumentSnapshot counter, collections_.counter("posts").Get());
  return KeyOf(counter);
}

// Likes are counted without reading the post in a transaction, so concurrent likes of a popular
// post do not wait for one another.
Status PostStore::Like(PostId post_id, UserId user_id) {
  RETURN_IF_ERROR(Get(post_id).status());
  return collections_.database()
      .Batch()
      .Create(collections_.like(post_id, user_id),
              {{"user_id", ToNumber(user_id)}, {"created_at", ToTimestamp(NowSeconds(clock_))}})
      .Update(collections_.post(post_id), {{"like_count", FieldValue::Increment(1)}})
      .Commit()
      .status();
}

Status PostStore::Unlike(PostId post_id, UserId user_id) {
  RETURN_IF_ERROR(Get(post_id).status());
  return collections_.database()
      .Batch()
      .Delete(collections_.like(post_id, user_id), {.exists = true})
      .Update(collections_.post(post_id), {{"like_count", FieldValue::Increment(-1)}})
      .Commit()
      .status();
}

Result<std::vector<bool>> PostStore::HasLiked(const std::vector<PostId>& post_ids,
                                              UserId user_id) const {
  std::vector<bool> has_liked;
  if (post_ids.empty()) return has_liked;
  std::vector<client::DocumentReference> likes;
  likes.reserve(post_ids.size());
  for (const PostId id : post_ids) likes.push_back(collections_.like(id, user_id));
  ASSIGN_OR_RETURN(
      const std::vector<client::DocumentSnapshot> snapshots,
      collections_.database().GetAll(likes, {.field_mask = std::vector<std::string>()}));
  has_liked.reserve(post_ids.size());
  for (const client::DocumentSnapshot& like : snapshots) has_liked.push_back(like.exists());
  return has_liked;
}

}  // namespace hearth::feed
