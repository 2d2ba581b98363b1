#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "apps/feed/stores/collections.h"
#include "base/status.h"

namespace hearth::feed {

// Which files the posts need, and which deleted posts still have to give theirs up.
//
// Threads: safe for concurrent use.
class PictureUses {
 public:
  explicit PictureUses(Collections collections) : collections_(std::move(collections)) {}

  // Posts of an earlier version do not name their files in a field. Adds it to all of them, once;
  // until this has succeeded, IsNeeded must not be relied on. Stops early with Cancelled.
  Status NameFilesOfOldPosts(const std::atomic<bool>& stopping);
  bool knows_all_files() const { return knows_all_files_; }

  // Whether a post that is not deleted has this file.
  Result<bool> IsNeeded(const std::string& file) const;

  struct Removal {
    PostId post = {};
    std::vector<std::string> files = {};
  };
  // NotFound if there is none, or no longer.
  Result<Removal> Get(PostId post) const;
  Result<std::vector<Removal>> List(size_t limit) const;
  // All files are gone, or needed by other posts.
  Status End(PostId post);

 private:
  const Collections collections_;
  std::atomic<bool> knows_all_files_ = false;
};

}  // namespace hearth::feed
