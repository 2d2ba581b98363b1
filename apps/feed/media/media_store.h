#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/feed/stores/post.h"
#include "base/clock.h"
#include "base/memory_budget.h"
#include "base/mutex.h"
#include "base/status.h"
#include "kit/web/lane.h"

namespace hearth::feed {

// Pictures in files named by their content: the same picture is stored once. Uploads are never
// served as received: each is decoded and encoded again, without metadata.
//
// Threads: safe for concurrent use; a few pictures are decoded at a time, and their owners take
// turns. Ownership: borrows the clock and the memory budget. Errors: InvalidArgument describes what
// is wrong with a picture; ResourceExhausted if there is no memory for it now; Unavailable for disk
// errors.
class MediaStore {
 public:
  struct Options {
    MemoryBudget* memory = nullptr;  // For decoding; null: no limit.
    size_t decoders = DefaultDecoders();

    // Half of the cores, at most four, at least one.
    static size_t DefaultDecoders();
  };

  static constexpr size_t kImageBytesMax = 5 * 1024 * 1024;
  static constexpr int kEdgeMax = 1'440;         // Longer edge of the displayed picture, in pixels.
  static constexpr int kThumbnailEdgeMax = 480;  // Longer edge of its thumbnail.
  // Pictures waiting to be decoded; the next one is refused.
  static constexpr size_t kQueuedPicturesMax = 64;
  // Encoding a displayed picture: its pixels, libwebp's copy of them and its work space.
  static constexpr size_t kEncodingBytes = 24 * 1024 * 1024;
  static constexpr size_t kFolders = 256;
  // How long the files of a post stay whose creation had no answer. No commit is under way for that
  // long: a transaction ends after a few minutes at most.
  static constexpr std::chrono::minutes kDoubtMax{10};

  // Creates the folder with the first picture. No other store may use it at the same time.
  MediaStore(const Clock& clock, std::string folder)
      : MediaStore(clock, std::move(folder), Options()) {}
  MediaStore(const Clock& clock, std::string folder, const Options& options);

  // The pictures of one post that is about to be created. Unless Keep is called, the destructor
  // removes the files that did not exist before, so a rejected post leaves nothing behind.
  // || Another post may start to use such a file before it is removed; then the file stays at least
  // until that post's upload ends. Threads: one at a time. Ownership: borrows the store.
  class Upload {
   public:
    // `owner`: with whom the pictures of others take turns.
    Upload(MediaStore& store, std::string owner) : store_(store), owner_(std::move(owner)) {}
    ~Upload();
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    // Checks a picture by its content and stores it in both sizes, durably.
    Result<Media> Add(std::string_view bytes);
    // The post has been created: the files stay.
    void Keep();
    // The post may have been created, or may still be: nothing removes the files before kDoubtMax
    // has passed.
    void KeepInDoubt();

   private:
    MediaStore& store_;
    const std::string owner_;
    std::vector<std::string> files_;
  };

  // NotFound also for invalid names.
  Result<std::string> Read(const std::string& file) const;
  bool Has(const std::string& file) const;

  enum class Removal : uint8_t {
    kGone,    // Removed durably, or was not there.
    kNeeded,  // A post needs it.
    kBusy,    // An upload uses it: ask again later.
  };
  // Removes a file unless a post needs it. `is_needed` asks the database, without a lock: an upload
  // that starts to use the file meanwhile is noticed. Errors: those of `is_needed`, and
  // Unavailable.
  Result<Removal> RemoveUnlessNeeded(const std::string& file,
                                     const std::function<Result<bool>()>& is_needed)
      EXCLUDES_LOCK(in_use_mutex_);
  // The files of posts whose creation was in doubt for kDoubtMax. From now on RemoveUnlessNeeded
  // asks about them.
  std::vector<std::string> EndDoubts() EXCLUDES_LOCK(in_use_mutex_);
  // The files in one of the kFolders folders that nothing has used for `age`. Includes files that
  // posts need.
  std::vector<std::string> FilesUnusedFor(std::chrono::seconds age, size_t folder) const;

 private:
  // A file in use by uploads in progress. Threads: as for the map that holds it.
  struct Use {
    size_t uploads = 0;
    bool is_new = false;  // Made by one of them, and not yet needed by a post.
  };

  // Files in use by uploads that have ended without an answer.
  struct Doubt {
    std::chrono::steady_clock::time_point end;
    std::vector<std::string> files;
  };

  struct Encoded {
    std::string shown;
    std::string thumbnail;
    int width = 0;
    int height = 0;
  };
  enum class Outcome : uint8_t { kKept, kGivenUp };

  // Waits for a turn of `owner`.
  Result<Encoded> Encode(std::string_view bytes, const std::string& owner);
  Result<Encoded> EncodeNow(std::string_view bytes) EXCLUDES_LOCK(decoding_mutex_);
  // Claims memory, if need be after other pictures have returned theirs.
  Status ClaimMemory(size_t bytes, MemoryClaim* claim) EXCLUDES_LOCK(decoding_mutex_);
  void EndDecoding() EXCLUDES_LOCK(decoding_mutex_);
  // Returns the name of the file and adds it to `files`.
  Result<std::string> Store(std::string_view content, std::vector<std::string>& files)
      EXCLUDES_LOCK(in_use_mutex_);
  // False if there is no such file.
  bool UseExisting(const std::string& file) EXCLUDES_LOCK(in_use_mutex_);
  // Gives the temporary file its name, unless another upload was faster.
  Status UseNew(const std::string& temporary_path, const std::string& file)
      EXCLUDES_LOCK(in_use_mutex_);
  void End(const std::vector<std::string>& files, Outcome outcome) EXCLUDES_LOCK(in_use_mutex_);
  void BeginDoubt(std::vector<std::string> files) EXCLUDES_LOCK(in_use_mutex_);
  std::string FolderOf(const std::string& file) const;
  std::string PathOf(const std::string& file) const;

  const Clock& clock_;
  const std::string folder_;
  MemoryBudget* const memory_;
  Mutex decoding_mutex_;  // Leaf lock.
  CondVar decoding_ended_;
  size_t decoding_ GUARDED_BY(decoding_mutex_) = 0;  // Pictures that have claimed memory.
  // Held while files get or lose their names, so that no upload relies on a file that another is
  // about to remove. Leaf lock.
  Mutex in_use_mutex_;
  std::map<std::string, Use> in_use_ GUARDED_BY(in_use_mutex_);
  std::deque<Doubt> doubts_ GUARDED_BY(in_use_mutex_);  // The oldest first.
  // Files that are about to be removed, and whether an upload has used them since.
  std::map<std::string, bool> removals_ GUARDED_BY(in_use_mutex_);
  kit::Lane decoders_;  // Last: its threads use the rest.
};

}  // namespace hearth::feed
