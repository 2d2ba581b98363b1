#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::server {

// The memory that this process may use: that of the machine, or the least limit of its control
// group (a container, or a unit of systemd with MemoryMax=) and the groups above it. `root`: ""
// except in tests.
size_t MachineMemoryBytes(const std::string& root = "");

// The limit in a control group's file: a number of bytes; nullopt for "max" and for anything that
// is not a number.
std::optional<size_t> ParseMemoryLimit(std::string_view text);

}  // namespace hearth::server
