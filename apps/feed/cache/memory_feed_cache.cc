#include "apps/feed/cache/memory_feed_cache.h"

#include <algorithm>
#include <utility>

#include "apps/feed/cache/random_name.h"

namespace hearth::feed {

Result<std::optional<FeedCache::Mark>> MemoryFeedCache::ReadMark() {
  MutexLock lock(mutex_);
  return mark_;
}

Status MemoryFeedCache::StartEpoch(PostKey newest) {
  MutexLock lock(mutex_);
  if (!mark_) mark_ = Mark{newest, RandomName(random_)};
  return Status();
}

Status MemoryFeedCache::MarkPushed(const std::string& epoch, PostKey post) {
  MutexLock lock(mutex_);
  if (!mark_ || mark_->epoch != epoch) return Status(Code::kAborted, "the epoch has changed");
  if (post.id <= mark_->newest.id) return Status();
  if (post.id > Next(mark_->newest.id)) {
    if (ahead_.size() >= kAheadMax && !ahead_.contains(post.id)) {
      return Status(Code::kUnavailable,
                    "too many posts are waiting for an earlier post to be pushed");
    }
    ahead_[post.id] = post.created_seconds;
    return Status();
  }
  mark_->newest = post;
  while (!ahead_.empty() && ahead_.begin()->first <= Next(mark_->newest.id)) {
    const auto [id, seconds] = *ahead_.begin();
    if (id > mark_->newest.id) mark_->newest = {seconds, id};
    ahead_.erase(ahead_.begin());
  }
  return Status();
}

Result<std::optional<FeedCache::Slice>> MemoryFeedCache::Read(const std::string& epoch, UserId user,
                                                              const std::optional<PostKey>& before,
                                                              size_t limit) {
  MutexLock lock(mutex_);
  Cache* cache = FindLocked(user);
  if (!cache || cache->is_warming || cache->epoch != epoch) return std::optional<Slice>();
  const std::vector<PostKey>& posts = cache->posts;
  const auto end = before ? std::lower_bound(posts.begin(), posts.end(), *before) : posts.end();
  const auto candidates = static_cast<size_t>(end - posts.begin());
  const auto begin = end - static_cast<std::ptrdiff_t>(std::min(limit, candidates));
  Slice slice{cache->following_version, std::vector<PostKey>(begin, end), candidates <= limit};
  std::reverse(slice.posts.begin(), slice.posts.end());
  TouchLocked(*cache);
  return std::optional<Slice>(std::move(slice));
}

Result<std::string> MemoryFeedCache::BeginWarming(const std::string& epoch, UserId user) {
  MutexLock lock(mutex_);
  DropLocked(user);
  by_read_.push_front(user);
  Cache& cache = caches_[user];
  cache.epoch = epoch;
  cache.ticket = RandomName(random_);
  cache.expires = clock_.Monotonic() + kWarmingMax;
  cache.place = by_read_.begin();
  ++entries_;
  std::string ticket = cache.ticket;
  MakeRoomLocked();
  return ticket;
}

Status MemoryFeedCache::FinishWarming(UserId user, const std::string& ticket,
                                      int64_t following_version,
                                      const std::vector<PostKey>& posts) {
  MutexLock lock(mutex_);
  Cache* cache = FindLocked(user);
  if (!cache || cache->ticket != ticket) {
    return Status(Code::kAborted, "the warming ticket is no longer valid");
  }
  if (!cache->is_warming) return Status();  // Already finished, by a call whose answer was lost.
  if (posts.empty()) {
    DropLocked(user);
    return Status();
  }
  // Posts older than all of `posts` would follow a gap.
  const PostKey oldest = *std::min_element(posts.begin(), posts.end());
  const auto kept = std::lower_bound(cache->posts.begin(), cache->posts.end(), oldest);
  entries_ -= static_cast<size_t>(kept - cache->posts.begin());
  cache->posts.erase(cache->posts.begin(), kept);
  for (const PostKey& post : posts) InsertLocked(*cache, post);
  TrimLocked(*cache);
  cache->is_warming = false;
  cache->following_version = following_version;
  TouchLocked(*cache);
  MakeRoomLocked();
  return Status();
}

Status MemoryFeedCache::Push(const std::string& epoch, const std::vector<UserId>& users,
                             PostKey post) {
  MutexLock lock(mutex_);
  for (const UserId user : users) {
    Cache* cache = FindLocked(user);
    if (!cache || cache->epoch != epoch) continue;
    if (!cache->is_warming && post < cache->posts.front()) continue;
    InsertLocked(*cache, post);
    TrimLocked(*cache);
  }
  MakeRoomLocked();
  return Status();
}

Status MemoryFeedCache::Remove(const std::vector<UserId>& users, PostId post_id) {
  MutexLock lock(mutex_);
  for (const UserId user : users) {
    Cache* cache = FindLocked(user);
    if (!cache) continue;
    EraseLocked(*cache, post_id);
    if (cache->posts.empty() && !cache->is_warming) DropLocked(user);
  }
  return Status();
}

Result<std::optional<PostKey>> MemoryFeedCache::Oldest(UserId user) {
  MutexLock lock(mutex_);
  const Cache* cache = FindLocked(user);
  if (!cache || cache->is_warming) return std::optional<PostKey>();
  return std::optional<PostKey>(cache->posts.front());
}

Status MemoryFeedCache::ApplyFollowing(UserId user, const FollowingChange& change) {
  MutexLock lock(mutex_);
  Cache* cache = FindLocked(user);
  if (!cache || cache->is_warming || cache->following_version >= change.version) return Status();
  const PostKey oldest = cache->posts.front();
  if (cache->following_version != change.version - 1 || oldest < change.since) {
    DropLocked(user);
    return Status();
  }
  for (const PostKey& post : change.added) {
    if (post >= oldest) InsertLocked(*cache, post);
  }
  for (const PostId post_id : change.removed) EraseLocked(*cache, post_id);
  TrimLocked(*cache);
  cache->following_version = change.version;
  if (cache->posts.empty()) DropLocked(user);
  MakeRoomLocked();
  return Status();
}

Status MemoryFeedCache::Drop(UserId user) {
  MutexLock lock(mutex_);
  DropLocked(user);
  return Status();
}

MemoryFeedCache::Cache* MemoryFeedCache::FindLocked(UserId user) {
  const auto found = caches_.find(user);
  if (found == caches_.end()) return nullptr;
  if (clock_.Monotonic() < found->second.expires) return &found->second;
  DropLocked(user);
  return nullptr;
}

void MemoryFeedCache::InsertLocked(Cache& cache, PostKey post) {
  const auto place = std::lower_bound(cache.posts.begin(), cache.posts.end(), post);
  if (place != cache.posts.end() && *place == post) return;
  cache.posts.insert(place, post);
  ++entries_;
}

void MemoryFeedCache::EraseLocked(Cache& cache, PostId post_id) {
  entries_ -= std::erase_if(cache.posts, [&](const PostKey& post) { return post.id == post_id; });
}

void MemoryFeedCache::TrimLocked(Cache& cache) {
  if (cache.posts.size() <= kPostsMax) return;
  const size_t over = cache.posts.size() - kPostsMax;
  cache.posts.erase(cache.posts.begin(), cache.posts.begin() + static_cast<std::ptrdiff_t>(over));
  entries_ -= over;
}

void MemoryFeedCache::TouchLocked(Cache& cache) {
  cache.expires = clock_.Monotonic() + kLifetime;
  by_read_.splice(by_read_.begin(), by_read_, cache.place);
}

void MemoryFeedCache::DropLocked(UserId user) {
  const auto found = caches_.find(user);
  if (found == caches_.end()) return;
  entries_ -= found->second.posts.size() + 1;
  by_read_.erase(found->second.place);
  caches_.erase(found);
}

void MemoryFeedCache::MakeRoomLocked() {
  while (entries_ > entries_max_ && !by_read_.empty()) DropLocked(by_read_.back());
}

}  // namespace hearth::feed
