#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#include "apps/feed/media/media_store.h"
#include "apps/feed/stores/picture_uses.h"
#include "base/clock.h"
#include "base/status.h"

namespace hearth::feed {

// Removes pictures that no post needs any longer: those of deleted posts, those of posts whose
// creation had no answer and did not happen, and files that a crash left behind.
//
// The commit that deletes a post also notes its files. They are removed before the deletion is
// answered; if that fails, Run does it later. A file that a post needs is never removed: the
// database is asked about each one, and uploads in progress are taken into account.
//
// Threads: safe for concurrent use. Ownership: borrows the constructor's arguments.
class PictureRemoval {
 public:
  static constexpr size_t kRemovalsPerRun = 500;
  // Run looks at the files of one folder this often, so that all folders take two days.
  static constexpr std::chrono::minutes kSweepPeriod{10};
  // A post may still be about to use a file that was used more recently.
  static constexpr std::chrono::hours kUnusedAge{1};

  PictureRemoval(const Clock& clock, Collections collections, MediaStore& media)
      : clock_(clock), uses_(std::move(collections)), media_(media) {}

  // Removes the pictures of a post that has just been deleted.
  Status Finish(PostId deleted);
  // Completes what was interrupted. To be called once per minute.
  Status Run(const std::atomic<bool>& stopping);
  // Removes the files of a folder that no post needs.
  Status Sweep(size_t folder, const std::atomic<bool>& stopping);

 private:
  Status Finish(const PictureUses::Removal& removal);
  Result<MediaStore::Removal> RemoveUnlessNeeded(const std::string& file);

  const Clock& clock_;
  PictureUses uses_;
  MediaStore& media_;
};

}  // namespace hearth::feed
