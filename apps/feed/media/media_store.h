#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/feed/stores/post.h"
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

  // Makes the folder when the first picture comes. No other store may use it at the same time.
  explicit MediaStore(std::string folder);

  // The pictures of one post that is about to be made. Those of its files that were not there
  // before are removed with it, unless the post is kept: a post that is refused leaves nothing
  // behind.
  //
  // Another post may come to use such a file before it is removed; then the file stays, as long as
  // that post's upload has not ended. Threads: one at a time. Ownership: borrows the store.
  class Upload {
   public:
    explicit Upload(MediaStore& store) : store_(store) {}
    ~Upload();
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    // Checks a picture by its content and stores it in both sizes, durably.
    Result<Media> Add(std::string_view bytes);
    // The post has been made: the files stay for good.
    void Keep();

   private:
    MediaStore& store_;
    std::vector<std::string> files_;
  };

  // NotFound for what is no name of ours, too.
  Result<std::string> Read(const std::string& file) const;

 private:
  // A file that uploads under way use. Threads: as the map that holds it.
  struct Use {
    size_t uploads = 0;
    bool is_new = false;  // Made by one of them, and no post is known to need it.
  };

  struct Encoded {
    std::string shown;
    std::string thumbnail;
    int width = 0;
    int height = 0;
  };
  enum class Outcome : uint8_t { kKept, kGivenUp };

  Result<Encoded> Encode(std::string_view bytes) EXCLUDES_LOCK(decoding_);
  // The name of the file, which is added to `files`.
  Result<std::string> Store(std::string_view content, std::vector<std::string>& files)
      EXCLUDES_LOCK(in_use_mutex_);
  // False where there is no such file.
  bool UseExisting(const std::string& file) EXCLUDES_LOCK(in_use_mutex_);
  // Gives what was written its name, unless another upload was faster.
  Status UseNew(const std::string& temporary_path, const std::string& file)
      EXCLUDES_LOCK(in_use_mutex_);
  void End(const std::vector<std::string>& files, Outcome outcome) EXCLUDES_LOCK(in_use_mutex_);
  std::string FolderOf(const std::string& file) const;
  std::string PathOf(const std::string& file) const;

  const std::string folder_;
  Mutex decoding_;  // Held while a picture is in memory. Leaf lock.
  // Held while files get their names and lose them, so that no upload counts on one that another is
  // about to remove. Leaf lock.
  Mutex in_use_mutex_;
  std::map<std::string, Use> in_use_ GUARDED_BY(in_use_mutex_);
};

}  // namespace hearth::feed
