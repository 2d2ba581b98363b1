#include "server/table.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "base/text.h"

namespace hearth::server {
namespace {

// Characters rather than bytes, so that columns align for most scripts.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string FormatTable(std::vector<std::vector<std::string>> rows) {
  std::vector<size_t> widths;
  for (std::vector<std::string>& row : rows) {
    for (std::string& cell : row) cell = Printable(cell);
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - WidthOf(row[i]) + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

std::string FormatBytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr size_t kUnitsCount = std::size(kUnits);
  double amount = static_cast<double>(bytes);
  size_t unit = 0;
  for (; amount >= 1'024 && unit + 1 < kUnitsCount; ++unit) amount /= 1'024;
  char text[32];
  const int decimals = unit > 0 && amount < 10 ? 1 : 0;
  std::snprintf(text, sizeof(text), "%.*f %s", decimals, amount, kUnits[unit]);
  return text;
}

}  // namespace hearth::server
