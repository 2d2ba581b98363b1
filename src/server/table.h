// Text output for terminals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::server {

// Lines with aligned columns. The last column is not padded. Cells may hold anything, such as names
// that clients chose: they are made printable.
std::string FormatTable(std::vector<std::vector<std::string>> rows);

// "0 B", "999 B", "1.5 KiB", "12 MiB": two digits or more.
std::string FormatBytes(uint64_t bytes);

}  // namespace hearth::server
