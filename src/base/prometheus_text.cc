#include "base/prometheus_text.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace hearth {
namespace {

// Whole numbers up to this one are exact in a double. They are written without an exponent.
constexpr double kWholeNumberMax = 9'007'199'254'740'992;

std::string MetricNumber(double number) {
  if (number == std::numeric_limits<double>::infinity()) return "+Inf";
  if (number == -std::numeric_limits<double>::infinity()) return "-Inf";
  if (std::isnan(number)) return "NaN";
  char text[32];
  char* const end = text + sizeof(text);
  if (std::abs(number) <= kWholeNumberMax && std::trunc(number) == number) {
    return std::string(text, std::to_chars(text, end, static_cast<int64_t>(number)).ptr);
  }
  return std::string(text, std::to_chars(text, end, number).ptr);
}

// Quotes are escaped in labels but not in help texts.
enum class Quotes { kEscaped, kPlain };

void AppendEscaped(std::string_view value, Quotes quotes, std::string* text) {
  for (const char c : value) {
    if (c == '\n') {
      *text += "\\n";
      continue;
    }
    if (c == '\\' || (c == '"' && quotes == Quotes::kEscaped)) *text += '\\';
    *text += c;
  }
}

void AppendLabel(std::string_view name, std::string_view value, std::string* text) {
  *text += name;
  *text += "=\"";
  AppendEscaped(value, Quotes::kEscaped, text);
  *text += "\",";
}

}  // namespace

void PrometheusText::BeginFamily(std::string_view name, std::string_view help,
                                 std::string_view type) {
  name_ = name;
  text_ += "# HELP " + name_ + " ";
  AppendEscaped(help, Quotes::kPlain, &text_);
  text_ += "\n# TYPE " + name_ + " ";
  text_ += type;
  text_ += '\n';
}

void PrometheusText::AddLine(std::string_view suffix, const Labels& labels, std::string_view bound,
                             double value) {
  text_ += name_;
  text_ += suffix;
  if (!labels.empty() || !bound.empty()) {
    text_ += '{';
    for (const auto& [name, label] : labels) AppendLabel(name, label, &text_);
    if (!bound.empty()) AppendLabel("le", bound, &text_);
    text_.back() = '}';  // Replaces the last comma.
  }
  text_ += ' ' + MetricNumber(value) + '\n';
}

void PrometheusText::Add(const Labels& labels, double value) { AddLine("", labels, "", value); }

void PrometheusText::Add(const Labels& labels, const Histogram::Reading& reading) {
  uint64_t below = 0;  // Buckets are cumulative.
  for (size_t i = 0; i < reading.counts.size(); ++i) {
    below += reading.counts[i];
    const std::string bound =
        i < reading.bounds.size() ? MetricNumber(reading.bounds[i]) : std::string("+Inf");
    AddLine("_bucket", labels, bound, static_cast<double>(below));
  }
  AddLine("_sum", labels, "", reading.sum);
  AddLine("_count", labels, "", static_cast<double>(reading.count));
}

}  // namespace hearth
