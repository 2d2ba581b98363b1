#include "server/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"

namespace hearth::server {
namespace {

// A hierarchy of control groups that can bound memory.
struct Hierarchy {
  std::string_view controller;  // In /proc/self/cgroup: "" for version 2.
  std::string_view folder;
  std::string_view limit_file;
};
constexpr Hierarchy kHierarchies[] = {
    {.controller = "", .folder = "/sys/fs/cgroup", .limit_file = "memory.max"},
    {.controller = "memory",
     .folder = "/sys/fs/cgroup/memory",
     .limit_file = "memory.limit_in_bytes"}};

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool HasController(std::string_view controllers, std::string_view wanted) {
  if (wanted.empty()) return controllers.empty();
  while (!controllers.empty()) {
    if (TakeUntil(controllers, ',') == wanted) return true;
  }
  return false;
}

// The path of this process's control group below the hierarchy's folder; "/" if it is not known.
// `groups`: /proc/self/cgroup, lines such as "4:cpu,memory:/system.slice/hearth.service".
std::string OwnGroup(std::string_view groups, const Hierarchy& hierarchy) {
  while (!groups.empty()) {
    std::string_view path = TakeUntil(groups, '\n');
    TakeUntil(path, ':');
    if (!HasController(TakeUntil(path, ':'), hierarchy.controller)) continue;
    // A group outside of the container's own part of the tree cannot be seen.
    const bool is_visible = path.starts_with('/') && path.find("/..") == std::string_view::npos;
    if (is_visible) return std::string(path);
  }
  return "/";
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
  const std::string groups = ReadWhole(root + "/proc/self/cgroup");
  for (const Hierarchy& hierarchy : kHierarchies) {
    const std::filesystem::path top = root + std::string(hierarchy.folder);
    std::filesystem::path group = top;
    group += OwnGroup(groups, hierarchy);
    // A group is bound by its own limit and by those of all groups above it.
    for (;; group = group.parent_path()) {
      const auto limit = ParseMemoryLimit(ReadWhole(group / hierarchy.limit_file));
      if (limit) bytes = std::min(bytes, *limit);
      if (group == top || group == group.parent_path()) break;
    }
  }
  return bytes;
}

}  // namespace hearth::server
