#include "model/numeric_id.h"

#include <algorithm>
#include <charconv>

namespace hearth::model {
namespace {

constexpr std::string_view kPrefix = "__id";
constexpr std::string_view kSuffix = "__";

}  // namespace

bool LooksNumericId(std::string_view id) {
  if (!id.starts_with(kPrefix) || !id.ends_with(kSuffix)) return false;
  if (id.size() <= kPrefix.size() + kSuffix.size()) return false;
  std::string_view digits = id.substr(kPrefix.size(), id.size() - kPrefix.size() - kSuffix.size());
  if (digits.starts_with('-')) digits.remove_prefix(1);
  if (digits.empty() || digits[0] == '0') return false;
  return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<int64_t> NumericId(std::string_view id) {
  if (!LooksNumericId(id)) return std::nullopt;
  int64_t number;
  const char* end = id.data() + id.size() - kSuffix.size();
  const auto [stop, error] = std::from_chars(id.data() + kPrefix.size(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string NumericIdText(int64_t number) {
  return std::string(kPrefix) + std::to_string(number) + std::string(kSuffix);
}

}  // namespace hearth::model
