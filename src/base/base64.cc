#include "base/base64.h"

#include <array>
#include <cstdint>

namespace hearth {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kStandardAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoDigit = 64;

constexpr std::array<uint8_t, 256> MakeDigits() {
  std::array<uint8_t, 256> digits = {};
  digits.fill(kNoDigit);
  for (uint8_t i = 0; i < 64; ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] = i;
    digits[static_cast<unsigned char>(kStandardAlphabet[i])] = i;
  }
  return digits;
}

// The digit of each character in either alphabet.
constexpr std::array<uint8_t, 256> kDigits = MakeDigits();

std::string Encode(std::string_view bytes, std::string_view alphabet) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  uint32_t buffer = 0;
  int bits = 0;
  for (const char byte : bytes) {
    buffer = (buffer << 8) | static_cast<unsigned char>(byte);
    for (bits += 8; bits >= 6;) {
      bits -= 6;
      text.push_back(alphabet[(buffer >> bits) & 63]);
    }
  }
  if (bits > 0) text.push_back(alphabet[(buffer << (6 - bits)) & 63]);
  return text;
}

}  // namespace

std::string EncodeBase64Url(std::string_view bytes) { return Encode(bytes, kAlphabet); }

std::string EncodeBase64(std::string_view bytes) {
  std::string text = Encode(bytes, kStandardAlphabet);
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::optional<std::string> DecodeAnyBase64(std::string_view text) {
  const size_t end = text.find('=');
  const std::string_view padding = text.substr(end == std::string_view::npos ? text.size() : end);
  if (padding.find_first_not_of('=') != std::string_view::npos || padding.size() > 2 ||
      (!padding.empty() && text.size() % 4 != 0)) {
    return std::nullopt;
  }
  text.remove_suffix(padding.size());
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t buffer = 0;
  int bits = 0;
  for (const char c : text) {
    const uint8_t digit = kDigits[static_cast<unsigned char>(c)];
    if (digit == kNoDigit) return std::nullopt;
    buffer = (buffer << 6) | digit;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<char>(buffer >> bits));
  }
  return bytes;
}

std::optional<std::string> DecodeBase64Url(std::string_view text) {
  std::string bytes;
  uint32_t buffer = 0;
  int bits = 0;
  for (const char c : text) {
    const size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    buffer = (buffer << 6) | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push_back(static_cast<char>(buffer >> bits));
    }
  }
  if (EncodeBase64Url(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace hearth
