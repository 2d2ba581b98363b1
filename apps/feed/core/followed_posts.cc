#include "apps/feed/core/followed_posts.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "client/filter.h"

namespace hearth::feed {
namespace {

// The last second that a document can hold: cursors may claim later ones.
constexpr int64_t kLastSecond = 253'402'300'799;  // 9999-12-31T23:59:59Z

std::vector<client::Value> ToCursor(const PostKey& key) {
  const int64_t seconds = std::min(key.created_seconds, kLastSecond);
  return {client::Timestamp::FromMicros(seconds * 1'000'000), ToNumber(key.id)};
}

}  // namespace

FollowedPosts::FollowedPosts(Collections collections, RandomSource& random)
    : collections_(std::move(collections)), random_(random) {}

Result<std::vector<Post>> FollowedPosts::Find(const std::vector<UserId>& authors,
                                              const std::optional<PostKey>& before, size_t limit,
                                              const std::optional<PostKey>& oldest) {
  if (limit == 0) return std::vector<Post>();
  std::vector<Post> found;
  std::optional<PostKey> bound = oldest;
  const std::vector<UserId> ordered = InGoodOrder(authors);
  for (size_t first = 0; first < ordered.size(); first += kAuthorsPerQuery) {
    const size_t end = std::min(first + kAuthorsPerQuery, ordered.size());
    const std::vector<UserId> group(ordered.begin() + static_cast<ptrdiff_t>(first),
                                    ordered.begin() + static_cast<ptrdiff_t>(end));
    ASSIGN_OR_RETURN(std::vector<Post> more, FindOfGroup(group, before, limit, bound));
    const auto middle = static_cast<ptrdiff_t>(found.size());
    std::ranges::move(more, std::back_inserter(found));
    std::inplace_merge(found.begin(), found.begin() + middle, found.end(),
                       [](const Post& a, const Post& b) { return a.key > b.key; });
    if (found.size() < limit) continue;
    found.resize(limit);
    bound = found.back().key;
  }
  for (const Post& post : found) Note(post.user_id, post.key);
  return found;
}

void FollowedPosts::Note(UserId author, PostKey post) {
  MutexLock lock(mutex_);
  if (newest_.size() >= kKnownAuthorsMax && !newest_.contains(author)) newest_.clear();
  PostKey& newest = newest_[author];
  newest = std::max(newest, post);
}

std::vector<UserId> FollowedPosts::InGoodOrder(std::vector<UserId> authors) {
  // Random if nothing is known, so that no order is persistently bad.
  std::mt19937_64 chance(random_.Next());
  std::ranges::shuffle(authors, chance);
  std::vector<std::pair<PostKey, UserId>> known;
  known.reserve(authors.size());
  {
    MutexLock lock(mutex_);
    for (const UserId author : authors) {
      const auto newest = newest_.find(author);
      known.emplace_back(newest == newest_.end() ? PostKey() : newest->second, author);
    }
  }
  std::ranges::stable_sort(known, std::ranges::greater(), &std::pair<PostKey, UserId>::first);
  std::ranges::transform(known, authors.begin(), &std::pair<PostKey, UserId>::second);
  return authors;
}

Result<std::vector<Post>> FollowedPosts::FindOfGroup(const std::vector<UserId>& group,
                                                     const std::optional<PostKey>& before,
                                                     size_t limit,
                                                     const std::optional<PostKey>& oldest) const {
  client::Array ids;
  ids.reserve(group.size());
  for (const UserId author : group) ids.emplace_back(ToNumber(author));
  client::Query query = collections_.posts()
                            .Where("user_id", client::Op::kIn, std::move(ids))
                            .Where("deleted_at", client::Op::kEqual, nullptr)
                            .OrderBy("created_at", client::Direction::kDescending)
                            .OrderBy("id", client::Direction::kDescending)
                            .Limit(limit);
  if (before) query = query.StartAfter(ToCursor(*before));
  if (oldest) query = query.EndAt(ToCursor(*oldest));
  ASSIGN_OR_RETURN(const client::QuerySnapshot results, query.Get());
  std::vector<Post> posts;
  posts.reserve(results.size());
  for (const client::DocumentSnapshot& document : results.documents) {
    ASSIGN_OR_RETURN(posts.emplace_back(), ReadPost(document));
  }
  return posts;
}

}  // namespace hearth::feed
