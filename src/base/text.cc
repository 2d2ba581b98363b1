#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/utf8.h"

namespace hearth {
namespace {

char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view Trim(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::string_view TakeUntil(std::string_view& text, char end) {
  const std::string_view part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

std::string_view Beginning(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

bool EqualsIgnoringCase(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, {}, LowerCase, LowerCase);
}

namespace {

// The bytes of the character that begins `text`, which is valid UTF-8.
size_t CharacterBytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

// The code point of a character of at most three bytes; 0 for longer ones, all of which can be
// printed.
unsigned CodePoint(std::string_view character) {
  const auto bits = [character](size_t i, unsigned mask) {
    return static_cast<unsigned char>(character[i]) & mask;
  };
  switch (character.size()) {
    case 1:
      return bits(0, 0x7F);
    case 2:
      return bits(0, 0x1F) << 6 | bits(1, 0x3F);
    case 3:
      return bits(0, 0x0F) << 12 | bits(1, 0x3F) << 6 | bits(2, 0x3F);
    default:
      return 0;
  }
}

bool IsControl(unsigned code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) ||        // C0, C1.
         code_point == 0x061C || code_point == 0x200E || code_point == 0x200F ||  // Directions.
         (code_point >= 0x2028 && code_point <= 0x202E) ||  // Line separators, directions.
         (code_point >= 0x2066 && code_point <= 0x2069) ||  // Directions.
         code_point == 0xFEFF;                              // The byte order mark.
}

void AppendEscaped(unsigned code_point, std::string* text) {
  std::array<char, 8> escaped{};
  std::snprintf(escaped.data(), escaped.size(), "\\u%04x", code_point & 0xFFFF);
  text->append(escaped.data());
}

}  // namespace

std::string Printable(std::string_view text) {
  constexpr unsigned kReplacement = 0xFFFD;
  const bool is_text = IsValidUtf8(text);
  std::string printable;
  printable.reserve(text.size());
  while (!text.empty()) {
    const bool is_other_byte = !is_text && (text.front() & 0x80) != 0;
    const std::string_view character =
        text.substr(0, is_text && !is_other_byte ? CharacterBytes(text) : 1);
    text.remove_prefix(character.size());
    if (is_other_byte) {
      AppendEscaped(kReplacement, &printable);
    } else if (character.size() < 4 && IsControl(CodePoint(character))) {
      AppendEscaped(CodePoint(character), &printable);
    } else {
      printable.append(character);
    }
  }
  return printable;
}

}  // namespace hearth
