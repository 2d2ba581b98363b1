#include "access/owner_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "access/open_file.h"

namespace hearth::access {

Status WriteOwnerFile(const std::string& folder, const std::string& name,
                      std::string_view content) {
  const std::string path = folder + "/" + name;
  const auto failed = [&path] {
    return Status(Code::kFailedPrecondition, path + ": " + std::strerror(errno));
  };
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Status(Code::kFailedPrecondition, path + ": " + error.message());
  // Under another name first: a crash must not leave half of it.
  const std::string unfinished = path + ".new";
  if (unlink(unfinished.c_str()) != 0 && errno != ENOENT) return failed();
  {
    const OpenFile file(unfinished, O_WRONLY | O_CREAT | O_EXCL);
    if (!file.is_open() ||
        write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
        fsync(file.get()) != 0) {
      return failed();
    }
  }
  if (rename(unfinished.c_str(), path.c_str()) != 0) return failed();
  const OpenFile directory(folder, O_RDONLY | O_DIRECTORY);
  if (!directory.is_open() || fsync(directory.get()) != 0) return failed();
  return Status();
}

}  // namespace hearth::access
