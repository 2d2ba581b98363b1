// The measurements, side by side for two caches.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace hearth::feed {

enum class CacheKind : uint8_t { kMemory, kRedis };

// Rows are in the order in which their names were first added. A row has no value for a cache to
// which it does not apply. Threads: one at a time.
class FeedReport {
 public:
  void Add(CacheKind kind, const std::string& name, const std::string& unit,
           std::optional<double> value) {
    Row* row = nullptr;
    for (Row& known : rows_) {
      if (known.name == name) row = &known;
    }
    if (row == nullptr) row = &rows_.emplace_back(Row{.name = name, .unit = unit, .values = {}});
    row->values[static_cast<size_t>(kind)] = value;
  }

  // Prints a Markdown table, with ratios for rows that were measured on both caches.
  void Print() const {
    std::printf("| what | unit | cache in process | cache in Redis | ratio |\n");
    std::printf("|---|---|---:|---:|---:|\n");
    for (const Row& row : rows_) {
      std::printf("| %s | %s |", row.name.c_str(), row.unit.c_str());
      for (const std::optional<double>& value : row.values) {
        std::printf(" %s |", value ? Format(*value).c_str() : "");
      }
      const auto& [memory, redis] = row.values;
      const bool has_ratio = memory && redis && *memory > 0;
      std::printf(" %s |\n", has_ratio ? Format(*redis / *memory).c_str() : "");
    }
    std::fflush(stdout);
  }

 private:
  struct Row {
    std::string name;
    std::string unit;
    std::array<std::optional<double>, 2> values;  // By cache.
  };

  static std::string Format(double value) {
    char text[32];
    const bool is_short = value >= 100 || value == std::floor(value);
    std::snprintf(text, sizeof text, is_short ? "%.0f" : "%.2f", value);
    return text;
  }

  std::vector<Row> rows_;
};

}  // namespace hearth::feed
