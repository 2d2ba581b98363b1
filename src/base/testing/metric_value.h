#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "base/metrics.h"

namespace hearth {

// The value that the registry shows for a series, named as in its text: `requests_total{app="a"}`.
// nullopt if it shows no such series.
inline std::optional<double> MetricValue(Metrics& metrics, const std::string& series) {
  const std::string text = "\n" + metrics.Text();
  const size_t begin = text.find("\n" + series + " ");
  if (begin == std::string::npos) return std::nullopt;
  return std::strtod(text.c_str() + begin + 1 + series.size(), nullptr);
}

}  // namespace hearth
