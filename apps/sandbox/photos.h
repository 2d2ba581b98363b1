#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include "apps/sandbox/photos_posts.h"
#include "apps/sandbox/stand_in.h"

namespace hearth::sandbox {

// People who post pictures, for a demo of the photo feed. Threads: as for StandIn.
class PhotosStandIn final : public StandIn {
 public:
  static constexpr size_t kPostsDefault = 20;
  static constexpr size_t kPostsMax = 100;  // Per response.
  // A picture takes about 50 ms, and clients retry after timeouts.
  static constexpr size_t kCachedPicturesMax = 32;

  explicit PhotosStandIn(const StandInContext& context)
      : posts_(context.seed), clock_(context.clock) {}

  std::string name() const override { return "photos"; }
  std::string summary() const override {
    return "People who post pictures, a new one every four minutes; all of it is made up.";
  }
  std::string example_path() const override { return "/posts.json"; }
  void AddRoutes(kit::Routes& routes) override;

 private:
  int64_t Now() const { return clock_.WallMicros() / 1'000'000; }
  kit::Response ListPosts(const kit::Request& request) const;
  kit::Response SendPicture(const std::string& file);

  const PhotosPosts posts_;
  const Clock& clock_;
  // By file name; the oldest is evicted first.
  std::deque<std::pair<std::string, std::string>> cached_;
};

}  // namespace hearth::sandbox
