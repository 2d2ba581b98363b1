#include "kit/metrics.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace hearth::kit {
namespace {

std::string NumberText(double number) {
  if (number == std::numeric_limits<double>::infinity()) return "+Inf";
  if (number == -std::numeric_limits<double>::infinity()) return "-Inf";
  if (number != number) return "NaN";
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof(text), number).ptr);
}

std::string Escape(std::string_view text, std::string_view also) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
    } else {
      if (c == '\\' || also.find(c) != std::string_view::npos) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

// "{app="hn",le="0.1"}", or nothing where there are no labels. `more` is one label, ready.
std::string LabelText(const Labels& labels, const std::string& more = {}) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += (text.empty() ? "" : ",") + name + "=\"" + Escape(value, "\"") + "\"";
  }
  if (!more.empty()) text += (text.empty() ? "" : ",") + more;
  return text.empty() ? text : "{" + text + "}";
}

std::string FamilyHead(const std::string& name, const std::string& help, const char* type) {
  return "# HELP " + name + " " + Escape(help, "") + "\n# TYPE " + name + " " + type + "\n";
}

void AppendHistogram(const std::string& name, const Labels& labels,
                     const Histogram::Reading& reading, std::string* text) {
  uint64_t below = 0;
  for (size_t i = 0; i < reading.counts.size(); ++i) {
    below += reading.counts[i];
    const std::string bound =
        i < reading.bounds.size() ? NumberText(reading.bounds[i]) : std::string("+Inf");
    *text += name + "_bucket" + LabelText(labels, "le=\"" + bound + "\"") + " " +
             std::to_string(below) + "\n";
  }
  *text += name + "_sum" + LabelText(labels) + " " + NumberText(reading.sum) + "\n";
  *text += name + "_count" + LabelText(labels) + " " + std::to_string(reading.count) + "\n";
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {
  CHECK(std::ranges::is_sorted(bounds_));
}

void Histogram::Observe(double value) {
  // Prometheus' buckets include their bound.
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  MutexLock lock(mutex_);
  ++counts_[static_cast<size_t>(bucket)];
  sum_ += value;
}

Histogram::Reading Histogram::Read() const {
  MutexLock lock(mutex_);
  Reading reading = {.bounds = bounds_, .counts = counts_, .count = 0, .sum = sum_};
  for (const uint64_t count : counts_) reading.count += count;
  return reading;
}

template <typename Metric, typename Make>
Metric& Metrics::GetOrMake(Families<Metric>* families, const std::string& name,
                           const std::string& help, const Labels& labels, const Make& make) {
  const auto family = families->find(name);
  if (family != families->end()) {
    const auto found = family->second.series.find(labels);
    if (found != family->second.series.end()) return *found->second;
  }
  if (series_count_ == kSeriesMax) {
    if (!std::exchange(is_full_, true)) {
      Log(LogLevel::kWarning, "too many metrics: the newest are not shown",
          {{"metric", name}, {"series_max", kSeriesMax}});
    }
    std::unique_ptr<Metric>& hidden = (*families)[""].series[{{"of", name}}];
    if (!hidden) hidden = make();
    return *hidden;
  }
  ++series_count_;
  Family<Metric>& chosen = (*families)[name];
  chosen.help = help;
  return *(chosen.series[labels] = make());
}

Counter& Metrics::GetCounter(const std::string& name, const std::string& help,
                             const Labels& labels) {
  MutexLock lock(mutex_);
  return GetOrMake(&counters_, name, help, labels, [] { return std::make_unique<Counter>(); });
}

Gauge& Metrics::GetGauge(const std::string& name, const std::string& help, const Labels& labels) {
  MutexLock lock(mutex_);
  return GetOrMake(&gauges_, name, help, labels, [] { return std::make_unique<Gauge>(); });
}

Histogram& Metrics::GetHistogram(const std::string& name, const std::string& help,
                                 const std::vector<double>& bounds, const Labels& labels) {
  MutexLock lock(mutex_);
  return GetOrMake(&histograms_, name, help, labels,
                   [&] { return std::make_unique<Histogram>(bounds); });
}

std::string Metrics::Text() const {
  MutexLock lock(mutex_);
  std::string text;
  for (const auto& [name, family] : counters_) {
    if (name.empty()) continue;  // What came when there was no room.
    text += FamilyHead(name, family.help, "counter");
    for (const auto& [labels, counter] : family.series) {
      text += name + LabelText(labels) + " " + std::to_string(counter->value()) + "\n";
    }
  }
  for (const auto& [name, family] : gauges_) {
    if (name.empty()) continue;
    text += FamilyHead(name, family.help, "gauge");
    for (const auto& [labels, gauge] : family.series) {
      text += name + LabelText(labels) + " " + NumberText(gauge->value()) + "\n";
    }
  }
  for (const auto& [name, family] : histograms_) {
    if (name.empty()) continue;
    text += FamilyHead(name, family.help, "histogram");
    for (const auto& [labels, histogram] : family.series) {
      AppendHistogram(name, labels, histogram->Read(), &text);
    }
  }
  return text;
}

}  // namespace hearth::kit
