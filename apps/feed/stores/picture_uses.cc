#include "apps/feed/stores/picture_uses.h"

#include <optional>
#include <utility>

#include "apps/feed/stores/documents.h"
#include "apps/feed/stores/post.h"
#include "base/status_macros.h"

namespace hearth::feed {
namespace {

constexpr size_t kPostsPerQuery = 200;
// The counter that says up to which post files are named.
constexpr char kCounter[] = "named-files";

Result<PictureUses::Removal> ReadRemoval(const client::DocumentSnapshot& document) {
  const Result<PostId> post = ParseId<PostId>(document.id());
  const std::optional<client::Value> files = document.Get(kFilesField);
  if (!post.ok() || !files || files->array() == nullptr) return NotOurs(document, "removal");
  PictureUses::Removal removal = {.post = *post};
  for (const client::Value& file : *files->array()) {
    if (file.text() == nullptr) return NotOurs(document, "removal");
    removal.files.emplace_back(*file.text());
  }
  return removal;
}

}  // namespace

Status PictureUses::NameFilesOfOldPosts(const std::atomic<bool>& stopping) {
  if (knows_all_files_) return Status();
  const client::DocumentReference counter = collections_.counter(kCounter);
  ASSIGN_OR_RETURN(const client::DocumentSnapshot progress, counter.Get());
  PostId last = LastId<PostId>(progress);
  while (!BooleanOf(progress.Data(), "is_complete")) {
    if (stopping) return Status(Code::kCancelled, "stopped");
    ASSIGN_OR_RETURN(const client::QuerySnapshot found,
                     collections_.posts()
                         .Where("id", client::Op::kGreater, ToNumber(last))
                         .OrderBy("id")
                         .Limit(kPostsPerQuery)
                         .Get());
    for (const client::DocumentSnapshot& document : found.documents) {
      ASSIGN_OR_RETURN(const Post post, ReadPost(document));
      last = post.key.id;
      if (post.is_deleted || document.Get(kFilesField)) continue;
      RETURN_IF_ERROR(
          collections_.database().RunTransaction([&](client::Transaction& transaction) -> Status {
            ASSIGN_OR_RETURN(const client::DocumentSnapshot now,
                             transaction.Get(collections_.post(last)));
            ASSIGN_OR_RETURN(const Post current, ReadPost(now));
            if (current.is_deleted) return Status();
            transaction.Update(collections_.post(last),
                               {{kFilesField, ToArray(FilesOf(current.media))}});
            return Status();
          }));
    }
    const bool is_complete = found.size() < kPostsPerQuery;
    RETURN_IF_ERROR(
        counter.Set({{"last_id", ToNumber(last)}, {"is_complete", is_complete}}).status());
    if (is_complete) break;
  }
  knows_all_files_ = true;
  return Status();
}

Result<bool> PictureUses::IsNeeded(const std::string& file) const {
  ASSIGN_OR_RETURN(
      const client::QuerySnapshot found,
      collections_.posts().Where(kFilesField, client::Op::kArrayContains, file).Limit(1).Get());
  return found.size() > 0;
}

Result<PictureUses::Removal> PictureUses::Get(PostId post) const {
  ASSIGN_OR_RETURN(const client::DocumentSnapshot document, collections_.removal(post).Get());
  if (!document.exists()) return Status(Code::kNotFound, "nothing to remove");
  return ReadRemoval(document);
}

Result<std::vector<PictureUses::Removal>> PictureUses::List(size_t limit) const {
  ASSIGN_OR_RETURN(const client::QuerySnapshot found, collections_.removals().Limit(limit).Get());
  std::vector<Removal> removals;
  for (const client::DocumentSnapshot& document : found.documents) {
    ASSIGN_OR_RETURN(removals.emplace_back(), ReadRemoval(document));
  }
  return removals;
}

Status PictureUses::End(PostId post) { return collections_.removal(post).Delete().status(); }

}  // namespace hearth::feed
