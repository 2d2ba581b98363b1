#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth {

// Base64 with the URL-safe alphabet and without padding.
std::string EncodeBase64Url(std::string_view bytes);

// nullopt if EncodeBase64Url cannot have produced `text`.
std::optional<std::string> DecodeBase64Url(std::string_view text);

// Base64 with the standard alphabet and padding, as JSON encodes bytes.
std::string EncodeBase64(std::string_view bytes);

// Accepts both alphabets, padded or not, as JSON parsers must. nullopt if `text` is not Base64.
std::optional<std::string> DecodeAnyBase64(std::string_view text);

}  // namespace hearth
