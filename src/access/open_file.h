// Private to this folder: a file descriptor.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace hearth::access {

// Opens a file, for its owner only if that creates it, and closes it at the end of its scope.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags)
      : descriptor_(open(path.c_str(), flags | O_CLOEXEC, S_IRUSR | S_IWUSR)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

}  // namespace hearth::access
