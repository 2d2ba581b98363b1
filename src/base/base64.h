#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth {

// Base64 with the URL-safe alphabet and without padding.
std::string EncodeBase64Url(std::string_view bytes);

// nullopt when `text` is not what EncodeBase64Url makes.
std::optional<std::string> DecodeBase64Url(std::string_view text);

// Base64 with the standard alphabet and padding, as JSON spells bytes.
std::string EncodeBase64(std::string_view bytes);

// Takes both alphabets, padded or not, as readers of JSON have to. nullopt when `text` is neither.
std::optional<std::string> DecodeAnyBase64(std::string_view text);

}  // namespace hearth
