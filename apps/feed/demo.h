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

// People to follow while there are none: brings the accounts and posts of a demonstration, which a
// service hands out, into the feed, and what is new there from then on. How far it has come is a
// document, so that a restart goes on from there.
//
// Threads: Run one at a time; Stop from any. Ownership: borrows all that it is made of.
class Demo {
 public:
  static constexpr size_t kPostsPerRequest = 20;

  // `url`: of the service, "http://127.0.0.1:4711/photos".
  Demo(std::string url, const Collections& collections, FeedCore& core, MediaStore& media,
       kit::Outbound& outbound);

  // Until there is nothing new, or it is told to stop.
  Status Run(const std::atomic<bool>& stopping);

 private:
  Status BringAccounts();
  // How many there were.
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
