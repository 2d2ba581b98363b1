// Text for people to read in a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::server {

// Lines whose columns stand below each other. The last column is not padded.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

// "0 B", "999 B", "1.5 KiB", "12 MiB": two digits or more.
std::string FormatBytes(uint64_t bytes);

}  // namespace hearth::server
