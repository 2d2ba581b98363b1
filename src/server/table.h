// Text output for terminals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::server {

// Lines with aligned columns. The last column is not padded.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

// "0 B", "999 B", "1.5 KiB", "12 MiB": two digits or more.
std::string FormatBytes(uint64_t bytes);

}  // namespace hearth::server
