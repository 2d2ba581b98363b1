// For tests.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include "base/check.h"

namespace hearth::storage {

// A folder that is removed with its contents when this is destroyed.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hearth-XXXXXX").string();
    CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;  // Leftovers stay in the machine's temporary folder.
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  // A path within the folder; nothing exists there yet.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Copies a folder as kill -9 would leave it at one instant. RocksDB may still be deleting files in
// the background, so the copy is repeated if anything changed during it.
inline void CopyAtOneMoment(const std::string& from, const std::string& to) {
  namespace fs = std::filesystem;
  const auto list = [&from] {
    std::map<std::string, uintmax_t> sizes;
    std::error_code gone;
    for (const auto& entry : fs::recursive_directory_iterator(from, gone)) {
      if (entry.is_regular_file(gone)) sizes[entry.path()] = entry.file_size(gone);
    }
    return sizes;
  };
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto before = list();
    std::error_code error;
    fs::remove_all(to, error);
    fs::copy(from, to, fs::copy_options::recursive, error);
    if (!error && list() == before) return;
  }
  CHECK(false);
}

}  // namespace hearth::storage
