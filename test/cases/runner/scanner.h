#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::cases {

// Reads one statement of a case from left to right.
//
// The first error sticks: from then on the scanner is at its end and everything it returns is
// empty, so that a parser needs to check for errors only once, at the end.
// Threads: one at a time. Ownership: borrows the text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  void Fail(std::string_view message);
  // Fails with a message that `wanted` was expected, and what was found.
  void FailExpecting(std::string_view wanted);

  // These skip white space first.
  bool AtEnd();
  char Peek();  // 0 at the end.
  bool Try(char c);
  void Expect(char c);
  // Reads a name of letters, digits and underscores, if it is exactly this one.
  bool TryWord(std::string_view word);
  bool NextIsWord(std::string_view word);
  // The same, if followed by white space or the end: "added" but not "added/a".
  bool NextIsToken(std::string_view token);
  // Symbols such as "<=".
  bool TrySymbol(std::string_view symbol);
  std::string Word();
  // Everything up to white space.
  std::string Token();
  int64_t Integer();
  size_t Count();
  // A JSON string, with its quotes.
  std::string QuotedString();
  // /.../, with "\/" for a slash.
  std::string Pattern();
  // The rest of the text.
  std::string Rest();

  // For callers that read characters themselves. These do not skip white space.
  bool HasRaw() const { return position_ < text_.size(); }
  char PeekRaw() const { return HasRaw() ? text_[position_] : '\0'; }
  char TakeRaw() { return HasRaw() ? text_[position_++] : '\0'; }
  std::string_view RestRaw() const { return text_.substr(position_); }
  void SkipRaw(size_t bytes) { position_ += bytes; }

 private:
  void SkipSpace();

  std::string_view text_;
  size_t position_ = 0;
  std::string error_;
};

// A whole decimal number; false if `text` is not one or does not fit.
bool ParseInteger(std::string_view text, int64_t* number);

}  // namespace hearth::cases
