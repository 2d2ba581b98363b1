// String helpers.
#pragma once

#include <string>
#include <string_view>

namespace hearth {

// The characters for which std::isspace is true in the C locale.
inline constexpr std::string_view kWhitespace = " \t\n\v\f\r";
// Optional whitespace around the parts of an HTTP header.
inline constexpr std::string_view kSpaceOrTab = " \t";

// `text` without leading and trailing characters of `blanks`.
std::string_view Trim(std::string_view text, std::string_view blanks = kSpaceOrTab);

// Removes everything up to and including the first `end` from `text`. Returns the part before
// `end`, or all of `text` if it has no `end`.
std::string_view TakeUntil(std::string_view& text, char end);

// Ignores the case of ASCII letters only.
bool EqualsIgnoringCase(std::string_view left, std::string_view right);

// `text` in a form that is safe to print: one line, valid UTF-8, and nothing that controls a
// terminal or changes the direction of text. Such characters become \uXXXX, bytes that are not
// valid UTF-8 become \ufffd.
std::string Printable(std::string_view text);

}  // namespace hearth
