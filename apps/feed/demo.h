#pragma once

#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/feed/core/feed_core.h"
#include "apps/feed/media/media_store.h"
#include "base/status.h"
#include "kit/outbound/outbound.h"

namespace hearth::feed {

// Demo accounts to follow: copies the accounts and posts of a demo service into the feed, then new
// ones as they appear. Progress is kept in a document, so that a restart continues from there.
//
// Threads: Run on one thread at a time; Stop from any thread. Ownership: borrows the constructor's
// arguments.
class Demo {
 public:
  static constexpr size_t kPostsPerRequest = 20;

  // `url`: of the service, "http://127.0.0.1:4711/photos".
  Demo(std::string url, const Collections& collections, FeedCore& core, MediaStore& media,
       kit::Outbound& outbound);

  // Runs until there is nothing new, or until stopped.
  Status Run(const std::atomic<bool>& stopping);

 private:
  Status BringAccounts();
  // Returns their number.
  Result<size_t> BringPosts(int64_t after, const std::atomic<bool>& stopping);
  Status BringPost(const nlohmann::json& post);
  Result<std::vector<Media>> BringPictures(const nlohmann::json& post, MediaStore::Upload* upload);
  Result<int64_t> LastNumber() const;

  const std::string url_;
  const Collections collections_;
  FeedCore& core_;
  MediaStore& media_;
  kit::Outbound& outbound_;
};

}  // namespace hearth::feed
