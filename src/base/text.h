// String helpers.
#pragma once

#include <cstddef>
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

// The beginning of `text`, at most `bytes_max` bytes, without half a character at its end. Errors
// quote their cause like this.
std::string_view Beginning(std::string_view text, size_t bytes_max);

// Ignores the case of ASCII letters only.
bool EqualsIgnoringCase(std::string_view left, std::string_view right);

// Makes `text` empty and frees its memory. clear() keeps the capacity, and so may the assignment of
// an empty string.
inline void FreeText(std::string& text) { std::string().swap(text); }

// `text` in a form that is safe to print: one line, valid UTF-8, and nothing that controls a
// terminal or changes the direction of text. Such characters become \uXXXX, bytes that are not
// valid UTF-8 become \ufffd.
std::string Printable(std::string_view text);

}  // namespace hearth
