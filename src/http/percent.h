#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth::http {

struct PercentDecoding {
  bool keeps_slashes = false;  // "%2F" stays as it is.
  bool plus_is_space = false;  // As in forms.
};

// The text that URLs and forms write with "%41" for bytes they cannot hold. nullopt where a '%' is
// not followed by two hexadecimal digits.
std::optional<std::string> DecodePercent(std::string_view text, PercentDecoding decoding = {});

// The other way round: all but letters, digits, '-', '.' and '_' is written so, which fits into a
// part of a path, a query's value and a form's.
std::string EncodePercent(std::string_view text);

}  // namespace hearth::http
