#include "support/listening_ports.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

namespace hearth::support {
namespace {

namespace fs = std::filesystem;

// The targets of its descriptors, such as "socket:[4711]".
std::set<std::string> DescriptorsOf(const std::string& folder) {
  std::set<std::string> targets;
  for (const fs::directory_entry& descriptor : fs::directory_iterator(folder + "/fd")) {
    std::error_code error;  // It may have been closed in the meantime.
    const fs::path target = fs::read_symlink(descriptor.path(), error);
    if (!error) targets.insert(target.string());
  }
  return targets;
}

}  // namespace

std::vector<uint16_t> ListeningPorts(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  const std::set<std::string> own = DescriptorsOf(folder);
  std::vector<uint16_t> ports;
  std::ifstream table(folder + "/net/tcp");  // Of all processes.
  std::string line;
  std::getline(table, line);  // The names of the columns.
  while (std::getline(table, line)) {
    std::istringstream columns(line);
    std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    columns >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
        timeout >> inode;
    const bool is_listening = state == "0A" && local.starts_with("0100007F:");
    if (!is_listening || !own.contains("socket:[" + inode + "]")) continue;
    ports.push_back(static_cast<uint16_t>(std::stoi(local.substr(9), nullptr, 16)));
  }
  return ports;
}

}  // namespace hearth::support
