#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace hearth::process {

// Why this process cannot mount anything; nullopt if it can. What it mounts, only it and its
// children see, and it is gone when they are: the first call gives the process a mount namespace of
// its own.
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

  // Takes all but `bytes` of what is free, until Free.
  void FillUpTo(size_t bytes) const;
  void Free() const;

 private:
  std::string FillerName() const { return folder_ + "/filler"; }

  const std::string folder_;
};

}  // namespace hearth::process
