#include "cases/runner/scanner.h"

#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>

namespace hearth::cases {
namespace {

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool IsSpace(char c) { return c == ' ' || c == '\t'; }

constexpr size_t kRestShownMax = 40;

}  // namespace

bool ParseInteger(std::string_view text, int64_t* number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

void Scanner::Fail(std::string_view message) {
  if (!ok()) return;
  error_ = std::string(message);
  position_ = text_.size();
}

void Scanner::FailExpecting(std::string_view wanted) {
  SkipSpace();
  const std::string rest(RestRaw().substr(0, kRestShownMax));
  Fail("expected " + std::string(wanted) +
       (rest.empty() ? ", but the line ends" : ", found '" + rest + "'"));
}

void Scanner::SkipSpace() {
  while (HasRaw() && IsSpace(text_[position_])) ++position_;
}

bool Scanner::AtEnd() {
  SkipSpace();
  return !HasRaw();
}

char Scanner::Peek() {
  SkipSpace();
  return PeekRaw();
}

bool Scanner::Try(char c) {
  if (Peek() != c) return false;
  ++position_;
  return true;
}

void Scanner::Expect(char c) {
  if (!Try(c)) FailExpecting(std::string("'") + c + "'");
}

bool Scanner::NextIsWord(std::string_view word) {
  SkipSpace();
  const std::string_view rest = RestRaw();
  return rest.starts_with(word) &&
         (rest.size() == word.size() || !IsWordCharacter(rest[word.size()]));
}

bool Scanner::NextIsToken(std::string_view token) {
  SkipSpace();
  const std::string_view rest = RestRaw();
  return rest.starts_with(token) && (rest.size() == token.size() || IsSpace(rest[token.size()]));
}

bool Scanner::TryWord(std::string_view word) {
  if (!NextIsWord(word)) return false;
  position_ += word.size();
  return true;
}

bool Scanner::TrySymbol(std::string_view symbol) {
  SkipSpace();
  if (!RestRaw().starts_with(symbol)) return false;
  position_ += symbol.size();
  return true;
}

std::string Scanner::Word() {
  SkipSpace();
  std::string word;
  while (HasRaw() && IsWordCharacter(PeekRaw())) word += TakeRaw();
  if (word.empty()) FailExpecting("a word");
  return word;
}

std::string Scanner::Token() {
  SkipSpace();
  std::string token;
  while (HasRaw() && !IsSpace(PeekRaw())) token += TakeRaw();
  if (token.empty()) FailExpecting("something");
  return token;
}

int64_t Scanner::Integer() {
  SkipSpace();
  std::string digits;
  if (PeekRaw() == '-' || PeekRaw() == '+') digits += TakeRaw();
  while (HasRaw() && std::isdigit(static_cast<unsigned char>(PeekRaw()))) digits += TakeRaw();
  int64_t number = 0;
  if (!ParseInteger(digits, &number)) FailExpecting("a whole number");
  return number;
}

size_t Scanner::Count() {
  const int64_t number = Integer();
  if (number >= 0) return static_cast<size_t>(number);
  Fail("a count cannot be negative");
  return 0;
}

std::string Scanner::QuotedString() {
  SkipSpace();
  const size_t begin = position_;
  Expect('"');
  while (HasRaw() && PeekRaw() != '"') {
    if (TakeRaw() == '\\') TakeRaw();
  }
  if (!Try('"')) {
    Fail("a string has no end");
    return {};
  }
  const nlohmann::json json =
      nlohmann::json::parse(text_.substr(begin, position_ - begin), nullptr, false);
  if (!json.is_string()) {
    Fail("this is not a JSON string: " + std::string(text_.substr(begin, kRestShownMax)));
    return {};
  }
  return json.get<std::string>();
}

std::string Scanner::Pattern() {
  Expect('/');
  std::string text;
  while (HasRaw()) {
    const char c = TakeRaw();
    if (c == '/') return text;
    if (c == '\\' && PeekRaw() != '/') text += c;
    text += c == '\\' ? TakeRaw() : c;
  }
  Fail("a pattern has no end");
  return {};
}

std::string Scanner::Rest() {
  SkipSpace();
  const std::string rest(RestRaw());
  position_ = text_.size();
  return rest;
}

}  // namespace hearth::cases
