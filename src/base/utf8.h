#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hearth {

// The slow path of IsValidUtf8, for text that is not all ASCII.
bool IsValidUtf8Slow(std::string_view text);

// Well-formed UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
inline bool IsValidUtf8(std::string_view text) {
  // Nearly all names and most strings are ASCII: test the top bits of eight bytes at a time.
  constexpr uint64_t kTopBits = 0x8080808080808080;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    if ((word & kTopBits) != 0) return IsValidUtf8Slow(text.substr(i));
  }
  for (; i < text.size(); ++i) {
    if ((text[i] & 0x80) != 0) return IsValidUtf8Slow(text.substr(i));
  }
  return true;
}

// The number of UTF-16 code units in `text`, which must be valid UTF-8. Firestore counts positions
// in names this way.
size_t Utf16Length(std::string_view text);

}  // namespace hearth
