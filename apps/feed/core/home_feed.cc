#include "apps/feed/core/home_feed.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace hearth::feed {
namespace {

// One more than a page, to know whether there are more.
constexpr size_t kWanted = HomeFeed::kPageSize + 1;
// If a page lost posts to deletion, several are fetched at a time.
constexpr size_t kTopUp = 50;

bool IsNewer(const Post& a, const Post& b) { return a.key > b.key; }

bool Follows(const FollowStore::Sources& sources, UserId author) {
  return std::ranges::binary_search(sources.following.ids, author);
}

// Both newest first; duplicates are removed.
std::vector<Post> Merge(std::vector<Post> a, std::vector<Post> b) {
  std::vector<Post> merged;
  merged.reserve(a.size() + b.size());
  std::merge(std::move_iterator(a.begin()), std::move_iterator(a.end()),
             std::move_iterator(b.begin()), std::move_iterator(b.end()), std::back_inserter(merged),
             IsNewer);
  const auto is_same = [](const Post& left, const Post& right) { return left.key == right.key; };
  merged.erase(std::unique(merged.begin(), merged.end(), is_same), merged.end());
  return merged;
}

std::vector<PostKey> KeysOf(const std::vector<Post>& posts) {
  std::vector<PostKey> keys;
  keys.reserve(posts.size());
  for (const Post& post : posts) keys.push_back(post.key);
  return keys;
}

}  // namespace

Result<FeedCache::Mark> EnsureMark(FeedCache& cache, const PostStore& posts) {
  ASSIGN_OR_RETURN(std::optional<FeedCache::Mark> mark, cache.ReadMark());
  if (mark) return *std::move(mark);
  ASSIGN_OR_RETURN(const PostKey newest, posts.Newest());
  RETURN_IF_ERROR(cache.StartEpoch(newest));
  ASSIGN_OR_RETURN(mark, cache.ReadMark());
  if (!mark) return Status(Code::kUnavailable, "the cache has lost its mark");
  return *std::move(mark);
}

HomeFeed::HomeFeed(FeedCache& cache, const FollowStore& follows, const PostStore& posts,
                   FollowedPosts& followed_posts, Metrics& metrics)
    : cache_(cache), follows_(follows), posts_(posts), followed_posts_(followed_posts) {
  for (const char* path :
       {"behind", "cold", "degraded", "exhausted", "hit", "nobody", "unwarmed"}) {
    pages_[path] = &metrics.GetCounter(
        "feed_pages_total", "Pages of home feeds, by how they came about.", {{"path", path}});
  }
}

Result<PostPage> HomeFeed::Read(UserId user, const std::optional<PostKey>& before) {
  // The mark is read before the lists: an author whose posts are pulled from now on is on the list
  // before the mark passes the first of them.
  const Result<FeedCache::Mark> mark = EnsureMark(cache_, posts_);
  ASSIGN_OR_RETURN(FollowStore::Sources sources, follows_.GetSources(user));
  const Question question{.user = user, .before = before, .sources = std::move(sources)};
  ASSIGN_OR_RETURN(Answer answer, Ask(question, mark));
  pages_.at(answer.path)->Add();
  PostPage page{.posts = std::move(answer.posts)};
  page.has_more = page.posts.size() > kPageSize;
  if (page.has_more) page.posts.resize(kPageSize);
  return page;
}

Result<HomeFeed::Answer> HomeFeed::Ask(const Question& question,
                                       const Result<FeedCache::Mark>& mark) {
  if (question.sources.following.ids.empty()) return Answer{.posts = {}, .path = "nobody"};
  if (!mark.ok()) return AskDatabase(question, "degraded");
  Result<std::optional<FeedCache::Slice>> slice = ReadUsable(question, *mark);
  if (!slice.ok()) return AskDatabase(question, "degraded");
  if (!*slice) return AskUnwarmed(question, *mark);
  return AskCache(question, *mark, **std::move(slice));
}

Result<std::optional<FeedCache::Slice>> HomeFeed::ReadUsable(const Question& question,
                                                             const FeedCache::Mark& mark) {
  ASSIGN_OR_RETURN(std::optional<FeedCache::Slice> slice,
                   cache_.Read(mark.epoch, question.user, question.before, kWanted));
  if (slice && slice->following_version != question.sources.following.version) slice.reset();
  return slice;
}

Result<HomeFeed::Answer> HomeFeed::AskUnwarmed(const Question& question,
                                               const FeedCache::Mark& mark) {
  std::optional<Result<Answer>> cold;
  Result<std::optional<FeedCache::Slice>> slice = std::optional<FeedCache::Slice>();
  const SingleFlight::Outcome outcome = warming_.Run(question.user, [&] {
    // Another request may have made it since this one looked.
    slice = ReadUsable(question, mark);
    if (slice.ok() && !*slice) cold = AskCold(question, mark);
  });
  if (cold) return *std::move(cold);
  if (outcome == SingleFlight::Outcome::kWaited) slice = ReadUsable(question, mark);
  if (!slice.ok()) return AskDatabase(question, "degraded");
  // Too many waiters, or an unusable cache: a failure, no posts, another following list.
  if (!*slice) return AskDatabase(question, "unwarmed");
  return AskCache(question, mark, **std::move(slice));
}

Result<HomeFeed::Answer> HomeFeed::AskDatabase(const Question& question, const char* path) {
  ASSIGN_OR_RETURN(std::vector<Post> posts,
                   followed_posts_.Find(question.sources.following.ids, question.before, kWanted));
  return Answer{.posts = std::move(posts), .path = path};
}

Result<HomeFeed::Answer> HomeFeed::AskCold(const Question& question, const FeedCache::Mark& mark) {
  const Result<std::string> ticket = cache_.BeginWarming(mark.epoch, question.user);
  if (!ticket.ok()) return AskDatabase(question, "degraded");
  const FollowStore::Sources& sources = question.sources;
  std::vector<UserId> pushed;
  std::ranges::set_difference(sources.following.ids, sources.pulled, std::back_inserter(pushed));
  ASSIGN_OR_RETURN(std::vector<Post> posts,
                   followed_posts_.Find(pushed, std::nullopt, FeedCache::kPostsMax));
  const Status made =
      cache_.FinishWarming(question.user, *ticket, sources.following.version, KeysOf(posts));
  if (!made.ok()) {
    Log(LogLevel::kDebug, "feed: a cache was not made", {{"reason", made.ToString()}});
  }
  if (question.before) return AskDatabase(question, "cold");
  ASSIGN_OR_RETURN(std::vector<Post> pulled,
                   followed_posts_.Find(sources.pulled, std::nullopt, kWanted));
  if (posts.size() > kWanted) posts.resize(kWanted);
  posts = Merge(std::move(posts), std::move(pulled));
  if (posts.size() > kWanted) posts.resize(kWanted);
  return Answer{.posts = std::move(posts), .path = "cold"};
}

Result<HomeFeed::Answer> HomeFeed::AskCache(const Question& question, const FeedCache::Mark& mark,
                                            FeedCache::Slice slice) {
  ASSIGN_OR_RETURN(std::optional<std::vector<Post>> uncached, FindUncached(question, mark));
  if (!uncached) return AskDatabase(question, "behind");
  std::vector<Post> cached;
  std::optional<PostKey> position = question.before;
  while (true) {
    ASSIGN_OR_RETURN(std::vector<Post> more, Hydrate(question, slice.posts));
    std::ranges::move(more, std::back_inserter(cached));
    if (!slice.posts.empty()) position = slice.posts.back();
    if (cached.size() >= kWanted || slice.has_ended) break;
    Result<std::optional<FeedCache::Slice>> next =
        cache_.Read(mark.epoch, question.user, position, kTopUp);
    if (!next.ok() || !*next || (*next)->following_version != slice.following_version) {
      return AskDatabase(question, "degraded");
    }
    slice = **std::move(next);
  }
  const bool is_enough = cached.size() >= kWanted;
  std::vector<Post> posts = Merge(std::move(cached), *std::move(uncached));
  if (!is_enough) {
    // Everything down to the cache's oldest entry is known. The database has the rest.
    std::erase_if(posts, [&](const Post& post) { return !position || post.key < *position; });
  }
  if (posts.size() > kWanted) posts.resize(kWanted);
  if (posts.size() == kWanted) return Answer{.posts = std::move(posts), .path = "hit"};
  ASSIGN_OR_RETURN(std::vector<Post> rest, followed_posts_.Find(question.sources.following.ids,
                                                                position, kWanted - posts.size()));
  std::ranges::move(rest, std::back_inserter(posts));
  return Answer{.posts = std::move(posts), .path = "exhausted"};
}

Result<std::optional<std::vector<Post>>> HomeFeed::FindUncached(const Question& question,
                                                                const FeedCache::Mark& mark) {
  ASSIGN_OR_RETURN(std::vector<Post> pulled,
                   followed_posts_.Find(question.sources.pulled, question.before, kWanted));
  // Posts above the mark are newer than it, so most pages need not look for them.
  if (question.before && *question.before <= mark.newest) return std::optional(std::move(pulled));
  ASSIGN_OR_RETURN(std::vector<Post> unpushed, posts_.ListAfter(mark.newest.id, kUnpushedMax + 1));
  if (unpushed.size() > kUnpushedMax) return std::optional<std::vector<Post>>();
  std::erase_if(unpushed, [&](const Post& post) {
    return post.is_deleted || !Follows(question.sources, post.user_id) ||
           (question.before && post.key >= *question.before);
  });
  std::ranges::sort(unpushed, IsNewer);
  return std::optional(Merge(std::move(pulled), std::move(unpushed)));
}

Result<std::vector<Post>> HomeFeed::Hydrate(const Question& question,
                                            const std::vector<PostKey>& keys) const {
  if (keys.empty()) return std::vector<Post>();
  std::vector<PostId> ids;
  ids.reserve(keys.size());
  for (const PostKey& key : keys) ids.push_back(key.id);
  ASSIGN_OR_RETURN(std::vector<Post> posts, posts_.GetAll(ids));
  std::erase_if(posts, [&](const Post& post) { return !Follows(question.sources, post.user_id); });
  return posts;
}

}  // namespace hearth::feed
