// Pieces of text.
#pragma once

#include <string_view>

namespace hearth {

// What std::isspace holds for, whatever the locale.
inline constexpr std::string_view kWhitespace = " \t\n\v\f\r";
// What may stand around the parts of a header of HTTP.
inline constexpr std::string_view kSpaceOrTab = " \t";

// `text` without the characters of `blanks` at its ends.
std::string_view Trim(std::string_view text, std::string_view blanks = kSpaceOrTab);

// Removes what is before the first `end` from `text`, and `end` itself, and returns it: all of
// `text` if there is no `end`.
std::string_view TakeUntil(std::string_view& text, char end);

// Knows the case of ASCII letters only.
bool EqualsIgnoringCase(std::string_view left, std::string_view right);

}  // namespace hearth
