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

// Pictures in files named by their content: the same picture is stored once. Uploads are never
// served as received: each is decoded and encoded again, without metadata.
//
// Threads: safe for concurrent use; one picture is decoded at a time, to bound memory. Errors:
// InvalidArgument describes what is wrong with a picture; Unavailable for disk errors.
class MediaStore {
 public:
  static constexpr size_t kImageBytesMax = 5 * 1024 * 1024;
  static constexpr int kEdgeMax = 1'440;         // Longer edge of the displayed picture, in pixels.
  static constexpr int kThumbnailEdgeMax = 480;  // Longer edge of its thumbnail.

  // Creates the folder with the first picture. No other store may use it at the same time.
  explicit MediaStore(std::string folder);

  // The pictures of one post that is about to be created. Unless Keep is called, the destructor
  // removes the files that did not exist before, so a rejected post leaves nothing behind.
  // || Another post may start to use such a file before it is removed; then the file stays at least
  // until that post's upload ends. Threads: one at a time. Ownership: borrows the store.
  class Upload {
   public:
    explicit Upload(MediaStore& store) : store_(store) {}
    ~Upload();
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    // Checks a picture by its content and stores it in both sizes, durably.
    Result<Media> Add(std::string_view bytes);
    // The post has been created: the files stay.
    void Keep();

   private:
    MediaStore& store_;
    std::vector<std::string> files_;
  };

  // NotFound also for invalid names.
  Result<std::string> Read(const std::string& file) const;

 private:
  // A file in use by uploads in progress. Threads: as for the map that holds it.
  struct Use {
    size_t uploads = 0;
    bool is_new = false;  // Made by one of them, and not yet needed by a post.
  };

  struct Encoded {
    std::string shown;
    std::string thumbnail;
    int width = 0;
    int height = 0;
  };
  enum class Outcome : uint8_t { kKept, kGivenUp };

  Result<Encoded> Encode(std::string_view bytes) EXCLUDES_LOCK(decoding_);
  // Returns the name of the file and adds it to `files`.
  Result<std::string> Store(std::string_view content, std::vector<std::string>& files)
      EXCLUDES_LOCK(in_use_mutex_);
  // False if there is no such file.
  bool UseExisting(const std::string& file) EXCLUDES_LOCK(in_use_mutex_);
  // Gives the temporary file its name, unless another upload was faster.
  Status UseNew(const std::string& temporary_path, const std::string& file)
      EXCLUDES_LOCK(in_use_mutex_);
  void End(const std::vector<std::string>& files, Outcome outcome) EXCLUDES_LOCK(in_use_mutex_);
  std::string FolderOf(const std::string& file) const;
  std::string PathOf(const std::string& file) const;

  const std::string folder_;
  Mutex decoding_;  // Held while a picture is in memory. Leaf lock.
  // Held while files get or lose their names, so that no upload relies on a file that another is
  // about to remove. Leaf lock.
  Mutex in_use_mutex_;
  std::map<std::string, Use> in_use_ GUARDED_BY(in_use_mutex_);
};

}  // namespace hearth::feed
