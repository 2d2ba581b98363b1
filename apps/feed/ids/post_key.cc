#include "apps/feed/ids/post_key.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/status_macros.h"

namespace hearth::feed {
namespace {

// Digits only, with one spelling per number.
Result<int64_t> ParseNumber(std::string_view text) {
  const auto is_digit = [](char byte) { return byte >= '0' && byte <= '9'; };
  const bool is_padded = text.size() > 1 && text.front() == '0';
  int64_t number = 0;
  if (text.empty() || is_padded || !std::all_of(text.begin(), text.end(), is_digit) ||
      std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) {
    return InvalidArgument("not a number: \"" + std::string(text) + "\"");
  }
  return number;
}

}  // namespace

Result<CursorNumbers> ParseCursorNumbers(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return InvalidArgument("a cursor is ID:SECONDS");
  ASSIGN_OR_RETURN(const int64_t id, ParseNumber(text.substr(0, colon)));
  ASSIGN_OR_RETURN(const int64_t seconds, ParseNumber(text.substr(colon + 1)));
  return CursorNumbers{.id = id, .seconds = seconds};
}

Result<int64_t> ParseIdNumber(std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t id, ParseNumber(text));
  if (id == 0) return InvalidArgument("ids begin at 1");
  return id;
}

}  // namespace hearth::feed
