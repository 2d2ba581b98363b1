#include "process/private_mount.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/check.h"

namespace hearth::process {
namespace {

std::optional<std::string> Failure(const std::string& what) {
  return "this machine lets the test mount nothing: " + what + ": " + std::strerror(errno);
}

// A user other than root may mount in a user namespace, as its root.
std::optional<std::string> EnterUserNamespace() {
  const std::string uid = std::to_string(getuid());
  const std::string gid = std::to_string(getgid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return Failure("unshare");
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " + uid + " 1";
  std::ofstream("/proc/self/gid_map") << "0 " + gid + " 1";
  return std::nullopt;
}

std::optional<std::string> EnterNamespace() {
  if (unshare(CLONE_NEWNS) != 0) {
    if (const std::optional<std::string> why = EnterUserNamespace()) return why;
  }
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return Failure("private /");
  return std::nullopt;
}

}  // namespace

std::optional<std::string> WhyNoMounts() {
  static const std::optional<std::string> why = EnterNamespace();
  return why;
}

PrivateMount::PrivateMount(std::string folder, size_t bytes) : folder_(std::move(folder)) {
  const std::string options = "size=" + std::to_string(bytes);
  CHECK(mount("tmpfs", folder_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) == 0);
}

PrivateMount::~PrivateMount() { umount2(folder_.c_str(), MNT_DETACH); }

void PrivateMount::Become(Access access) const {
  const unsigned long read_only = access == Access::kReadOnly ? MS_RDONLY : 0;
  CHECK(mount(nullptr, folder_.c_str(), nullptr, MS_REMOUNT | MS_NOSUID | MS_NODEV | read_only,
              nullptr) == 0);
}

size_t PrivateMount::free_bytes() const {
  struct statvfs info = {};
  CHECK(statvfs(folder_.c_str(), &info) == 0);
  return info.f_bavail * info.f_frsize;
}

void PrivateMount::FillUpTo(size_t bytes) const {
  const int file = open(FillerName().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  CHECK(file >= 0);
  const size_t free = free_bytes();
  if (free > bytes) CHECK(posix_fallocate(file, 0, static_cast<off_t>(free - bytes)) == 0);
  close(file);
}

void PrivateMount::Free() const { CHECK(unlink(FillerName().c_str()) == 0); }

}  // namespace hearth::process
