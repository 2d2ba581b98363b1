#pragma once

#include <string>
#include <string_view>

#include "apps/feed/post.h"
#include "base/mutex.h"
#include "base/status.h"

namespace hearth::feed {

// Pictures in files that are named by what they hold: the same picture is stored once. Nothing that
// was uploaded is served as it came: each is decoded and encoded anew, without what cameras add.
//
// Threads: safe for concurrent use; one picture is decoded at a time, to bound memory. Errors:
// InvalidArgument says what is wrong with a picture; Unavailable when the disk refuses.
class MediaStore {
 public:
  static constexpr size_t kImageBytesMax = 5 * 1024 * 1024;
  static constexpr int kEdgeMax = 1'440;         // Pixels of the longer edge of what is shown...
  static constexpr int kThumbnailEdgeMax = 480;  // ... and of its thumbnail.

  explicit MediaStore(std::string folder);

  // Checks a picture by its content and stores it in both sizes, durably.
  Result<Media> Add(std::string_view bytes) EXCLUDES_LOCK(decoding_);
  // NotFound for what is no name of ours, too.
  Result<std::string> Read(const std::string& file) const;

 private:
  Result<std::string> Store(std::string_view content);

  const std::string folder_;
  Mutex decoding_;  // Held while a picture is in memory.
};

}  // namespace hearth::feed
