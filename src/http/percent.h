#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth::http {

struct PercentDecoding {
  bool keeps_slashes = false;  // "%2F" stays as it is.
  bool plus_is_space = false;  // As in forms.
};

// Decodes the "%41" escapes of URLs and forms. nullopt if a '%' is not followed by two hexadecimal
// digits.
std::optional<std::string> DecodePercent(std::string_view text, PercentDecoding decoding = {});

// The inverse: escapes everything except letters, digits, '-', '.' and '_', which is safe in a path
// segment, a query value and a form value.
std::string EncodePercent(std::string_view text);

}  // namespace hearth::http
