#include "apps/feed/media/picture_removal.h"

#include <string>

#include "base/status_macros.h"

namespace hearth::feed {

Status PictureRemoval::Finish(PostId deleted) {
  // There may be old posts whose files are not known yet: Run gets to it.
  if (!uses_.knows_all_files()) RETURN_IF_ERROR(uses_.NameFilesOfOldPosts(std::atomic(false)));
  const Result<PictureUses::Removal> removal = uses_.Get(deleted);
  if (removal.status().code() == Code::kNotFound) return Status();
  RETURN_IF_ERROR(removal.status());
  return Finish(*removal);
}

Status PictureRemoval::Finish(const PictureUses::Removal& removal) {
  bool is_complete = true;
  for (const std::string& file : removal.files) {
    ASSIGN_OR_RETURN(const MediaStore::Removal outcome, RemoveUnlessNeeded(file));
    if (outcome == MediaStore::Removal::kBusy) is_complete = false;
  }
  return is_complete ? uses_.End(removal.post) : Status();
}

Status PictureRemoval::Run(const std::atomic<bool>& stopping) {
  RETURN_IF_ERROR(uses_.NameFilesOfOldPosts(stopping));
  for (const std::string& file : media_.EndDoubts()) {
    RETURN_IF_ERROR(RemoveUnlessNeeded(file).status());
  }
  ASSIGN_OR_RETURN(const std::vector<PictureUses::Removal> removals, uses_.List(kRemovalsPerRun));
  for (const PictureUses::Removal& removal : removals) {
    if (stopping) return Status();
    RETURN_IF_ERROR(Finish(removal));
  }
  const auto minute = std::chrono::duration_cast<std::chrono::minutes>(
      std::chrono::microseconds(clock_.WallMicros()));
  if (minute % kSweepPeriod != std::chrono::minutes(0)) return Status();
  return Sweep(static_cast<size_t>(minute / kSweepPeriod) % MediaStore::kFolders, stopping);
}

Status PictureRemoval::Sweep(size_t folder, const std::atomic<bool>& stopping) {
  RETURN_IF_ERROR(uses_.NameFilesOfOldPosts(stopping));
  for (const std::string& file : media_.FilesUnusedFor(kUnusedAge, folder)) {
    if (stopping) return Status();
    RETURN_IF_ERROR(RemoveUnlessNeeded(file).status());
  }
  return Status();
}

Result<MediaStore::Removal> PictureRemoval::RemoveUnlessNeeded(const std::string& file) {
  return media_.RemoveUnlessNeeded(file, [&] { return uses_.IsNeeded(file); });
}

}  // namespace hearth::feed
