#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::server {

// The memory that this process may use: that of the machine, or of its control group (container)
// if that is less. `root`: "" except in tests.
size_t MachineMemoryBytes(const std::string& root = "");

// The limit in a control group's file: a number of bytes; nullopt for "max" and for anything that
// is not a number.
std::optional<size_t> ParseMemoryLimit(std::string_view text);

}  // namespace hearth::server
