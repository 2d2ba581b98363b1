// Private to this folder: Prometheus' text format, version 0.0.4.
#pragma once

#include <string>
#include <string_view>

#include "base/metrics.h"

namespace hearth {

// Builds the text family by family. Threads: one at a time.
class PrometheusText {
 public:
  // Values added from here to the next call belong to this family. `type`: "counter", "gauge" or
  // "histogram".
  void BeginFamily(std::string_view name, std::string_view help, std::string_view type);
  void Add(const Labels& labels, double value);
  void Add(const Labels& labels, const Histogram::Reading& reading);

  std::string Take() { return std::move(text_); }

 private:
  // One line. `bound` is the bucket's bound, or empty if this is not a bucket.
  void AddLine(std::string_view suffix, const Labels& labels, std::string_view bound, double value);

  std::string name_;
  std::string text_;
};

}  // namespace hearth
