#include "apps/feed/stores/comment_store.h"

#include <utility>

#include "apps/feed/stores/documents.h"
#include "base/status_macros.h"

namespace hearth::feed {
namespace {

using client::FieldValue;
using client::Op;

Status NoSuchComment(CommentId id) { return Status(Code::kNotFound, "no comment " + ToText(id)); }

client::Map ToDocument(const Comment& comment) {
  return {{"id", ToNumber(comment.id)},
          {"post_id", ToNumber(comment.post_id)},
          {"user_id", ToNumber(comment.user_id)},
          {"username", comment.username},
          {"text", comment.text},
          {"parent_id",
           comment.parent_id ? client::Value(ToNumber(*comment.parent_id)) : client::Value()},
          {"created_at", ToTimestamp(comment.created_seconds)},
          {"reply_count", comment.reply_count},
          {"is_deleted", comment.is_deleted},
          // Deleted comments may or may not be listed, and queries cannot say "or has replies".
          {"is_listed", true}};
}

Result<Comment> ReadComment(const client::DocumentSnapshot& document) {
  const client::Map fields = document.Data();
  Comment comment = {.id = ReadId<CommentId>(fields, "id"),
                     .post_id = ReadId<PostId>(fields, "post_id"),
                     .user_id = ReadId<UserId>(fields, "user_id"),
                     .username = TextOf(fields, "username"),
                     .text = TextOf(fields, "text"),
                     .parent_id = {},
                     .created_seconds = SecondsOf(fields, "created_at"),
                     .reply_count = IntegerOf(fields, "reply_count"),
                     .is_deleted = BooleanOf(fields, "is_deleted")};
  if (!IsValid(comment.id) || !IsValid(comment.post_id) || !IsValid(comment.user_id)) {
    return NotOurs(document, "comment");
  }
  const auto parent_id = ReadId<CommentId>(fields, "parent_id");
  if (IsValid(parent_id)) comment.parent_id = parent_id;
  return comment;
}

// NotFound if it is missing or deleted.
Result<Comment> ReadLiving(const client::DocumentSnapshot& document, CommentId id) {
  if (!document.exists()) return NoSuchComment(id);
  ASSIGN_OR_RETURN(Comment comment, ReadComment(document));
  if (comment.is_deleted) return NoSuchComment(id);
  return comment;
}

}  // namespace

CommentStore::CommentStore(const Clock& clock, Collections collections, const PostStore& posts)
    : clock_(clock), collections_(std::move(collections)), posts_(posts) {}

Result<Comment> CommentStore::Create(const Draft& draft) {
  // Outside of the transaction, so that likes of the post do not wait for comments.
  RETURN_IF_ERROR(posts_.Get(draft.post_id).status());
  Comment comment = {.post_id = draft.post_id,
                     .user_id = draft.user_id,
                     .username = draft.username,
                     .text = draft.text,
                     .parent_id = draft.parent_id,
                     .created_seconds = NowSeconds(clock_)};
  const std::string maker = collections_.comments(draft.post_id).Doc().id();
  const client::DocumentReference counter = collections_.counter("comments");
  RETURN_IF_ERROR(collections_.database().RunTransaction(
      [&](client::Transaction& transaction) -> Status {
        if (IsValid(comment.id)) {
          ASSIGN_OR_RETURN(const client::DocumentSnapshot made,
                           transaction.Get(Doc(draft.post_id, comment.id)));
          if (IsMadeBy(maker, made)) return Status();
        }
        if (draft.parent_id) {
          ASSIGN_OR_RETURN(const client::DocumentSnapshot document,
                           transaction.Get(Doc(draft.post_id, *draft.parent_id)));
          ASSIGN_OR_RETURN(const Comment parent, ReadLiving(document, *draft.parent_id));
          if (parent.parent_id) return InvalidArgument("a reply cannot have replies");
        }
        ASSIGN_OR_RETURN(const client::DocumentSnapshot last, transaction.Get(counter));
        comment.id = Next(LastId<CommentId>(last));
        client::Map document = ToDocument(comment);
        document[kMakerField] = maker;
        transaction.Create(Doc(draft.post_id, comment.id), document);
        transaction.Set(counter, {{"last_id", ToNumber(comment.id)}});
        transaction.Update(collections_.post(draft.post_id),
                           {{"comment_count", FieldValue::Increment(1)}});
        if (draft.parent_id) {
          transaction.Update(Doc(draft.post_id, *draft.parent_id),
                             {{"reply_count", FieldValue::Increment(1)}});
        }
        return Status();
      },
      kContended));
  return comment;
}

Status CommentStore::Delete(PostId post_id, CommentId comment_id, UserId user_id) {
  ASSIGN_OR_RETURN(const Post post, posts_.Get(post_id));
  return collections_.database().RunTransaction(
      [&](client::Transaction& transaction) -> Status {
        ASSIGN_OR_RETURN(const client::DocumentSnapshot document,
                         transaction.Get(Doc(post_id, comment_id)));
        ASSIGN_OR_RETURN(const Comment comment, ReadLiving(document, comment_id));
        if (comment.user_id != user_id && post.user_id != user_id) {
          return Status(Code::kPermissionDenied,
                        "comment " + ToText(comment_id) + " is another user's");
        }
        std::optional<Comment> parent;
        if (comment.parent_id) {
          ASSIGN_OR_RETURN(const client::DocumentSnapshot above,
                           transaction.Get(Doc(post_id, *comment.parent_id)));
          ASSIGN_OR_RETURN(parent, ReadComment(above));
        }
        transaction.Update(
            Doc(post_id, comment_id),
            {{"is_deleted", true}, {"text", ""}, {"is_listed", comment.reply_count > 0}});
        transaction.Update(collections_.post(post_id),
                           {{"comment_count", FieldValue::Increment(-1)}});
        if (parent) {
          // The last reply removes a deleted parent with it.
          transaction.Update(Doc(post_id, parent->id),
                             {{"reply_count", FieldValue::Increment(-1)},
                              {"is_listed", !parent->is_deleted || parent->reply_count > 1}});
        }
        return Status();
      },
      kContended);
}

Result<CommentStore::Page> CommentStore::List(PostId post_id,
                                              const std::optional<CommentKey>& after,
                                              size_t limit) const {
  RETURN_IF_ERROR(posts_.Get(post_id).status());
  client::Query query = collections_.comments(post_id)
                            .Where("is_listed", Op::kEqual, true)
                            .OrderBy("created_at")
                            .OrderBy("id");
  if (after) {
    ASSIGN_OR_RETURN(const client::Timestamp created,
                     client::Timestamp::FromParts(after->created_seconds, 0));
    query = query.StartAfter({created, ToNumber(after->id)});
  }
  // One more than requested tells whether there are more.
  ASSIGN_OR_RETURN(const client::QuerySnapshot found, query.Limit(limit + 1).Get());
  Page page;
  page.has_more = found.size() > limit;
  for (const client::DocumentSnapshot& document : found.documents) {
    if (page.comments.size() == limit) break;
    ASSIGN_OR_RETURN(Comment comment, ReadComment(document));
    page.comments.push_back(std::move(comment));
  }
  return page;
}

}  // namespace hearth::feed
