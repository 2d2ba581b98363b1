#include "server/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace hearth::server {
namespace {

// Version 2 and version 1 of control groups, as a process sees its own.
constexpr const char* kLimitFiles[] = {"/sys/fs/cgroup/memory.max",
                                       "/sys/fs/cgroup/memory/memory.limit_in_bytes"};

std::string ReadLimitFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::optional<size_t> ParseMemoryLimit(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return bytes;
}

size_t MachineMemoryBytes(const std::string& root) {
  size_t bytes =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (const char* file : kLimitFiles) {
    if (const auto limit = ParseMemoryLimit(ReadLimitFile(root + file)))
      bytes = std::min(bytes, *limit);
  }
  return bytes;
}

}  // namespace hearth::server
