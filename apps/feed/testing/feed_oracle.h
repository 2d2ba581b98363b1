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

// A simple model of feeds: all posts and follows in memory.
class FeedOracle {
 public:
  struct Page {
    std::vector<PostId> ids = {};
    std::vector<std::string> captions = {};
    bool has_more = false;
    friend bool operator==(const Page&, const Page&) = default;
  };

  void Create(PostKey key, UserId author, std::string caption) {
    posts_[key] = {.author = author, .caption = std::move(caption)};
    keys_[key.id] = key;
  }
  void Delete(PostId id) { posts_.erase(keys_.at(id)); }
  void Edit(PostId id, std::string caption) {
    posts_.at(keys_.at(id)).caption = std::move(caption);
  }
  void Follow(UserId user, UserId author) { follows_[user].insert(author); }
  void Unfollow(UserId user, UserId author) { follows_[user].erase(author); }

  bool Follows(UserId user, UserId author) const {
    const auto found = follows_.find(user);
    return found != follows_.end() && found->second.contains(author);
  }
  size_t CountOf(UserId user) const { return Find(user, std::nullopt, SIZE_MAX).ids.size(); }
  // Posts that are not deleted, lowest id first.
  std::vector<PostId> LivingPosts() const {
    std::vector<PostId> ids;
    for (const auto& [key, post] : posts_) ids.push_back(key.id);
    return ids;
  }
  UserId AuthorOf(PostId id) const { return posts_.at(keys_.at(id)).author; }
  // For any post, deleted or not.
  PostKey KeyOf(PostId id) const { return keys_.at(id); }

  Page Find(UserId user, const std::optional<PostKey>& before, size_t limit) const {
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
    UserId author;
    std::string caption;
  };

  std::map<PostKey, Entry> posts_;
  std::map<PostId, PostKey> keys_;
  std::map<UserId, std::set<UserId>> follows_;
};

}  // namespace hearth::feed
