#include "apps/feed/media/media_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <system_error>
#include <thread>

#include "base/check.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "kit/images/images.h"

namespace hearth::feed {
namespace {

constexpr std::string_view kEnding = ".webp";
constexpr size_t kHashDigits = 2 * crypto_hash_sha256_BYTES;
constexpr size_t kFolderDigits = 2;  // 256 subfolders, to keep each small.
constexpr int kQuality = 82;
constexpr char kIncoming[] = "/incoming";  // Files that have no final name yet.

std::string NameOf(std::string_view content) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash;
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(content.data()),
                     content.size());
  std::array<char, kHashDigits + 1> digits;
  sodium_bin2hex(digits.data(), digits.size(), hash.data(), hash.size());
  return std::string(digits.data(), kHashDigits) + std::string(kEnding);
}

// Paths are made only of names that pass this.
bool IsName(std::string_view file) {
  return file.size() == kHashDigits + kEnding.size() && file.ends_with(kEnding) &&
         std::ranges::all_of(file.substr(0, kHashDigits), [](char digit) {
           return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
         });
}

Status DiskFailed(std::string_view doing, int error) {
  return Status(Code::kUnavailable,
                std::string(doing) + ": " + std::generic_category().message(error));
}

// After this a crash does not lose names in the folder.
Status SyncFolder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return DiskFailed("cannot open " + folder, errno);
  const int error = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  return error == 0 ? Status() : DiskFailed("cannot sync " + folder, error);
}

Status WriteAll(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return DiskFailed("cannot write a picture", errno);
    content.remove_prefix(static_cast<size_t>(written));
  }
  if (fsync(descriptor) != 0) return DiskFailed("cannot sync a picture", errno);
  return {};
}

// Writes the content durably to a temporary file and returns its path.
Result<std::string> WriteTemporary(const std::string& folder, std::string_view content) {
  std::string path = folder + "/XXXXXX";
  const int descriptor = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) return DiskFailed("cannot create a file in " + folder, errno);
  const Status written = WriteAll(descriptor, content);
  close(descriptor);
  if (!written.ok()) {
    unlink(path.c_str());
    return written;
  }
  return path;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

}  // namespace

size_t MediaStore::Options::DefaultDecoders() {
  return std::clamp<size_t>(std::thread::hardware_concurrency() / 2, 1, 4);
}

MediaStore::MediaStore(const Clock& clock, std::string folder, const Options& options)
    : clock_(clock),
      folder_(std::move(folder)),
      memory_(options.memory),
      decoders_(kit::LaneOptions::Of(options.decoders, kQueuedPicturesMax)) {
  CHECK(sodium_init() >= 0);
  // Leftovers of a process that died while writing.
  std::error_code ignored;
  std::filesystem::remove_all(folder_ + kIncoming, ignored);
}

MediaStore::Upload::~Upload() { store_.End(files_, Outcome::kGivenUp); }

Result<Media> MediaStore::Upload::Add(std::string_view bytes) {
  ASSIGN_OR_RETURN(const Encoded encoded, store_.Encode(bytes, owner_));
  Media media;
  media.width = encoded.width;
  media.height = encoded.height;
  ASSIGN_OR_RETURN(media.file, store_.Store(encoded.shown, files_));
  ASSIGN_OR_RETURN(media.thumbnail, store_.Store(encoded.thumbnail, files_));
  return media;
}

void MediaStore::Upload::Keep() {
  store_.End(files_, Outcome::kKept);
  files_.clear();
}

void MediaStore::Upload::KeepInDoubt() {
  store_.BeginDoubt(std::move(files_));
  files_.clear();
}

Result<std::string> MediaStore::Read(const std::string& file) const {
  const Status not_found(Code::kNotFound, "there is no such picture");
  if (!IsName(file)) return not_found;
  const std::string path = PathOf(file);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Exists(path) ? DiskFailed("cannot open a picture", EIO) : not_found;
  std::string content((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (stream.bad()) return DiskFailed("cannot read a picture", EIO);
  return content;
}

bool MediaStore::Has(const std::string& file) const { return IsName(file) && Exists(PathOf(file)); }

Result<MediaStore::Encoded> MediaStore::Encode(std::string_view bytes, const std::string& owner) {
  if (bytes.size() > kImageBytesMax) {
    return InvalidArgument("the picture is larger than " + std::to_string(kImageBytesMax) +
                           " bytes");
  }
  std::promise<Result<Encoded>> promise;
  std::future<Result<Encoded>> encoded = promise.get_future();
  const kit::Lane::Admission admission =
      decoders_.TryPost({.group = owner}, [this, bytes, promise = std::move(promise)]() mutable {
        promise.set_value(EncodeNow(bytes));
      });
  if (admission != kit::Lane::Admission::kTaken) {
    return Status(Code::kResourceExhausted, "too many pictures are waiting; try again soon");
  }
  return encoded.get();
}

Status MediaStore::ClaimMemory(size_t bytes, MemoryClaim* claim) {
  if (memory_ != nullptr && bytes > memory_->bytes_max() / 8 * 7) {
    return InvalidArgument("the picture has more pixels than this server has memory for");
  }
  MutexLock lock(decoding_mutex_);
  while (!claim->Resize(bytes)) {
    // Other pictures will return their memory soon. That of other clients may be held for long.
    if (decoding_ == 0) {
      return Status(Code::kResourceExhausted,
                    "the server is short of memory for pictures; try again soon");
    }
    decoding_ended_.Wait(decoding_mutex_);
  }
  ++decoding_;
  return {};
}

void MediaStore::EndDecoding() {
  {
    MutexLock lock(decoding_mutex_);
    --decoding_;
  }
  decoding_ended_.NotifyAll();
}

Result<MediaStore::Encoded> MediaStore::EncodeNow(std::string_view bytes) {
  constexpr kit::ImageLimits kLimits = {.edge_wanted = kEdgeMax};
  ASSIGN_OR_RETURN(const size_t decoding_bytes, kit::ImageMemoryBytes(bytes, kLimits));
  MemoryClaim claim(memory_);
  RETURN_IF_ERROR(ClaimMemory(decoding_bytes + kEncodingBytes, &claim));
  Result<Encoded> encoded = [&]() -> Result<Encoded> {
    ASSIGN_OR_RETURN(kit::Image image, kit::DecodeImage(bytes, kLimits));
    ASSIGN_OR_RETURN(image, kit::ShrinkImage(image, kEdgeMax));
    ASSIGN_OR_RETURN(const kit::Image thumbnail, kit::ShrinkImage(image, kThumbnailEdgeMax));
    Encoded result;
    result.width = image.width;
    result.height = image.height;
    ASSIGN_OR_RETURN(result.shown, kit::EncodeWebp(image, kQuality));
    ASSIGN_OR_RETURN(result.thumbnail, kit::EncodeWebp(thumbnail, kQuality));
    return result;
  }();
  claim.Reset();
  EndDecoding();
  return encoded;
}

Result<std::string> MediaStore::Store(std::string_view content, std::vector<std::string>& files) {
  const std::string file = NameOf(content);
  const std::string folder = FolderOf(file);
  if (!UseExisting(file)) {
    std::error_code error;
    const bool is_new_folder = std::filesystem::create_directories(folder, error);
    if (!error) std::filesystem::create_directories(folder_ + kIncoming, error);
    if (error) return DiskFailed("cannot create " + folder, error.value());
    if (is_new_folder) RETURN_IF_ERROR(SyncFolder(folder_));
    ASSIGN_OR_RETURN(const std::string temporary_path,
                     WriteTemporary(folder_ + kIncoming, content));
    RETURN_IF_ERROR(UseNew(temporary_path, file));
  }
  files.push_back(file);
  // Also for an existing file: the upload that made it may not have synced it yet.
  RETURN_IF_ERROR(SyncFolder(folder));
  return file;
}

bool MediaStore::UseExisting(const std::string& file) {
  const MutexLock lock(in_use_mutex_);
  const std::string path = PathOf(file);
  // Also notes that the file is in use, for FilesUnusedFor.
  if (utimensat(AT_FDCWD, path.c_str(), nullptr, 0) != 0) return false;
  if (const auto removal = removals_.find(file); removal != removals_.end()) removal->second = true;
  ++in_use_[file].uploads;
  return true;
}

Status MediaStore::UseNew(const std::string& temporary_path, const std::string& file) {
  const MutexLock lock(in_use_mutex_);
  const std::string path = PathOf(file);
  const bool is_new = !Exists(path);
  // Replaces the file of another upload, too: the contents are equal.
  if (rename(temporary_path.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(temporary_path.c_str());
    return DiskFailed("cannot name a picture", error);
  }
  if (const auto removal = removals_.find(file); removal != removals_.end()) removal->second = true;
  Use& use = in_use_[file];
  ++use.uploads;
  if (is_new) use.is_new = true;
  return {};
}

void MediaStore::End(const std::vector<std::string>& files, Outcome outcome) {
  const MutexLock lock(in_use_mutex_);
  for (const std::string& file : files) {
    const auto found = in_use_.find(file);
    Use& use = found->second;
    if (outcome == Outcome::kKept) use.is_new = false;
    if (--use.uploads > 0) continue;
    if (use.is_new && unlink(PathOf(file).c_str()) != 0) {
      Log(LogLevel::kWarning, "a picture that no post needs cannot be removed",
          {{"file", file}, {"reason", std::generic_category().message(errno)}});
    }
    in_use_.erase(found);
  }
}

void MediaStore::BeginDoubt(std::vector<std::string> files) {
  const MutexLock lock(in_use_mutex_);
  doubts_.push_back({.end = clock_.Monotonic() + kDoubtMax, .files = std::move(files)});
}

std::vector<std::string> MediaStore::EndDoubts() {
  std::vector<std::string> files;
  {
    const MutexLock lock(in_use_mutex_);
    for (; !doubts_.empty() && doubts_.front().end <= clock_.Monotonic(); doubts_.pop_front()) {
      std::ranges::move(doubts_.front().files, std::back_inserter(files));
    }
  }
  End(files, Outcome::kKept);
  return files;
}

Result<MediaStore::Removal> MediaStore::RemoveUnlessNeeded(
    const std::string& file, const std::function<Result<bool>()>& is_needed) {
  if (!IsName(file)) return Removal::kGone;
  {
    const MutexLock lock(in_use_mutex_);
    if (in_use_.contains(file) || !removals_.try_emplace(file, false).second) {
      return Removal::kBusy;
    }
  }
  const Result<bool> needed = is_needed();
  {
    const MutexLock lock(in_use_mutex_);
    const auto removal = removals_.find(file);
    const bool was_used = removal->second;
    removals_.erase(removal);
    if (!needed.ok()) return needed.status();
    if (*needed) return Removal::kNeeded;
    if (was_used) return Removal::kBusy;
    if (unlink(PathOf(file).c_str()) != 0) {
      if (errno == ENOENT) return Removal::kGone;
      return DiskFailed("cannot remove a picture", errno);
    }
  }
  RETURN_IF_ERROR(SyncFolder(FolderOf(file)));
  return Removal::kGone;
}

std::vector<std::string> MediaStore::FilesUnusedFor(std::chrono::seconds age, size_t folder) const {
  constexpr char kDigits[] = "0123456789abcdef";
  const std::string path = folder_ + "/" + kDigits[folder / 16 % 16] + kDigits[folder % 16];
  const auto newest = std::filesystem::file_time_type::clock::now() - age;
  std::vector<std::string> files;
  std::error_code ignored;  // A folder that does not exist has no files.
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    const std::string name = entry.path().filename().string();
    const auto used = entry.last_write_time(ignored);
    if (IsName(name) && !ignored && used <= newest) files.push_back(name);
  }
  return files;
}

std::string MediaStore::FolderOf(const std::string& file) const {
  return folder_ + "/" + file.substr(0, kFolderDigits);
}

std::string MediaStore::PathOf(const std::string& file) const {
  return FolderOf(file) + "/" + file;
}

}  // namespace hearth::feed
