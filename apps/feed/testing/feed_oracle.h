#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/feed/ids/post_key.h"

namespace hearth::feed {

// What feeds should say, by the plainest means: all posts, and who follows whom, in memory.
class FeedOracle {
 public:
  struct Page {
    std::vector<int64_t> ids = {};
    std::vector<std::string> captions = {};
    bool has_more = false;
    friend bool operator==(const Page&, const Page&) = default;
  };

  void Create(PostKey key, int64_t author, std::string caption) {
    posts_[key] = {.author = author, .caption = std::move(caption)};
    keys_[key.id] = key;
  }
  void Delete(int64_t id) { posts_.erase(keys_.at(id)); }
  void Edit(int64_t id, std::string caption) {
    posts_.at(keys_.at(id)).caption = std::move(caption);
  }
  void Follow(int64_t user, int64_t author) { follows_[user].insert(author); }
  void Unfollow(int64_t user, int64_t author) { follows_[user].erase(author); }

  bool Follows(int64_t user, int64_t author) const {
    const auto found = follows_.find(user);
    return found != follows_.end() && found->second.contains(author);
  }
  size_t CountOf(int64_t user) const { return Find(user, std::nullopt, SIZE_MAX).ids.size(); }
  // That are not deleted, lowest first.
  std::vector<int64_t> LivingPosts() const {
    std::vector<int64_t> ids;
    for (const auto& [key, post] : posts_) ids.push_back(key.id);
    return ids;
  }
  int64_t AuthorOf(int64_t id) const { return posts_.at(keys_.at(id)).author; }
  // Of any post that ever was.
  PostKey KeyOf(int64_t id) const { return keys_.at(id); }

  Page Find(int64_t user, const std::optional<PostKey>& before, size_t limit) const {
    Page page;
    for (auto post = before ? posts_.lower_bound(*before) : posts_.end(); post != posts_.begin();) {
      --post;
      if (!Follows(user, post->second.author)) continue;
      if (page.ids.size() == limit) {
        page.has_more = true;
        break;
      }
      page.ids.push_back(post->first.id);
      page.captions.push_back(post->second.caption);
    }
    return page;
  }

 private:
  struct Entry {
    int64_t author;
    std::string caption;
  };

  std::map<PostKey, Entry> posts_;
  std::map<int64_t, PostKey> keys_;
  std::map<int64_t, std::set<int64_t>> follows_;
};

}  // namespace hearth::feed
