#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace hearth::process {

// Why this process cannot mount anything; nullopt if it can. Only this process and its children see
// its mounts, which disappear with them: the first call moves the process to its own mount
// namespace.
std::optional<std::string> WhyNoMounts();

// A file system in memory, of a fixed size, mounted on an existing folder. Requires !WhyNoMounts().
class PrivateMount {
 public:
  enum class Access { kReadWrite, kReadOnly };

  PrivateMount(std::string folder, size_t bytes);
  ~PrivateMount();
  PrivateMount(const PrivateMount&) = delete;
  PrivateMount& operator=(const PrivateMount&) = delete;

  void Become(Access access) const;
  size_t free_bytes() const;

  // Uses up all free space except `bytes`, until Free.
  void FillUpTo(size_t bytes) const;
  void Free() const;

 private:
  std::string FillerName() const { return folder_ + "/filler"; }

  const std::string folder_;
};

}  // namespace hearth::process
