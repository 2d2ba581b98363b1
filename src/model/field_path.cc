#include "model/field_path.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/status_macros.h"
#include "base/utf8.h"
#include "model/limits.h"
#include "model/reserved_name.h"

namespace hearth::model {
namespace {

constexpr std::string_view kNameField = "__name__";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// True if the segment needs no backticks.
bool IsSimple(std::string_view segment) {
  return !segment.empty() && IsLetter(segment[0]) &&
         std::all_of(segment.begin(), segment.end(),
                     [](char c) { return IsLetter(c) || IsDigit(c); });
}

// The character with the code `digits` in `base`. ASCII only, so that the path stays UTF-8.
std::optional<char> CharacterByNumber(std::string_view digits, size_t length, int base) {
  if (digits.size() < length) return std::nullopt;
  unsigned number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + length, number, base);
  if (error != std::errc() || end != digits.data() + length || number > 0x7f) return std::nullopt;
  return static_cast<char>(number);
}

// Takes the rest of an escape, after the backslash, off the front of `text`. The escapes are those
// of C.
std::optional<char> TakeEscape(std::string_view* text) {
  if (text->empty()) return std::nullopt;
  constexpr std::string_view kLetters = "abfnrtv\\`'\"?";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\`'\"?";
  const char letter = (*text)[0];
  if (const size_t at = kLetters.find(letter); at != std::string_view::npos) {
    text->remove_prefix(1);
    return kMeanings[at];
  }
  const bool is_hex = letter == 'x' || letter == 'u';
  const size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : 3;
  if (is_hex) text->remove_prefix(1);
  const std::optional<char> character = CharacterByNumber(*text, digits, is_hex ? 16 : 8);
  if (character) text->remove_prefix(digits);
  return character;
}

// Takes a segment in backticks off the front of `text`.
std::optional<std::string> TakeQuoted(std::string_view* text) {
  text->remove_prefix(1);
  std::string segment;
  while (!text->empty()) {
    const char c = (*text)[0];
    text->remove_prefix(1);
    if (c == '`') return segment;
    if (c != '\\') {
      segment.push_back(c);
      continue;
    }
    const std::optional<char> character = TakeEscape(text);
    if (!character) return std::nullopt;
    segment.push_back(*character);
  }
  return std::nullopt;
}

// The segments of `text`; nullopt on a syntax error.
std::optional<std::vector<std::string>> Split(std::string_view text) {
  std::vector<std::string> segments;
  while (true) {
    if (text.starts_with('`')) {
      std::optional<std::string> segment = TakeQuoted(&text);
      if (!segment || segment->empty()) return std::nullopt;
      segments.push_back(*std::move(segment));
    } else {
      const std::string_view segment = text.substr(0, text.find('.'));
      if (!IsSimple(segment)) return std::nullopt;
      segments.emplace_back(segment);
      text.remove_prefix(segment.size());
    }
    if (text.empty()) return segments;
    if (text[0] != '.') return std::nullopt;
    text.remove_prefix(1);
  }
}

Status CheckSegments(const std::vector<std::string>& segments) {
  size_t bytes = segments.size() - 1;  // The dots: limits.h defines the length.
  for (const std::string& segment : segments) bytes += segment.size();
  if (bytes > kFieldPathBytesMax)
    return InvalidArgument("property path is longer than 1500 bytes.");
  if (segments.size() > kFieldPathSegmentsMax) {
    return InvalidArgument("paths must have at most 20 elements");
  }
  for (const std::string& segment : segments) {
    if (!IsReservedName(segment)) continue;
    if (segment != kNameField) {
      return InvalidArgument("Invalid reserved name in field path " + segment);
    }
    // `__key__` is Firestore's internal name of the document name.
    if (segments.size() > 1) return InvalidArgument("the name __key__ is reserved");
  }
  return Status();
}

}  // namespace

Result<FieldPath> FieldPath::Parse(std::string_view text) {
  if (text.empty()) return InvalidArgument("Invalid empty property path string.");
  if (!IsValidUtf8(text)) return InvalidArgument("Property path is not valid UTF-8.");
  std::optional<std::vector<std::string>> segments = Split(text);
  if (!segments) {
    return InvalidArgument(
        "Invalid property path \"" + std::string(text) +
        "\". Unquoted property paths must match regex ([a-zA-Z_][a-zA-Z_0-9]*), "
        "and quoted property paths must match regex (`(?:[^`\\\\]|(?:\\\\.))+`)");
  }
  RETURN_IF_ERROR(CheckSegments(*segments));
  return FieldPath(*std::move(segments));
}

bool FieldPath::IsWellFormed(std::string_view text) {
  return IsValidUtf8(text) && Split(text).has_value();
}

bool FieldPath::IsPrefixOf(const FieldPath& other) const {
  return segments_.size() <= other.segments_.size() &&
         std::equal(segments_.begin(), segments_.end(), other.segments_.begin());
}

std::optional<FieldPath> FieldPath::Parent() const {
  if (segments_.size() < 2) return std::nullopt;
  return FieldPath({segments_.begin(), segments_.end() - 1});
}

std::string FieldPath::ToString() const {
  std::string text;
  for (const std::string& segment : segments_) {
    if (!text.empty()) text.push_back('.');
    if (IsSimple(segment)) {
      text += segment;
      continue;
    }
    text.push_back('`');
    for (const char c : segment) {
      if (c == '`' || c == '\\') text.push_back('\\');
      text.push_back(c);
    }
    text.push_back('`');
  }
  return text;
}

}  // namespace hearth::model
