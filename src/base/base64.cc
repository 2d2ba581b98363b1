#include "base/base64.h"

#include <cstdint>

namespace hearth {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string EncodeBase64Url(std::string_view bytes) {
  std::string text;
  uint32_t buffer = 0;
  int bits = 0;
  for (const char byte : bytes) {
    buffer = (buffer << 8) | static_cast<unsigned char>(byte);
    for (bits += 8; bits >= 6;) {
      bits -= 6;
      text.push_back(kAlphabet[(buffer >> bits) & 63]);
    }
  }
  if (bits > 0) text.push_back(kAlphabet[(buffer << (6 - bits)) & 63]);
  return text;
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
