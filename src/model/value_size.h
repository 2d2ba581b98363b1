// Sizes by Firestore's documented formula, which limits documents. They have nothing to do with
// the number of bytes that the stored form takes.
#pragma once

#include <cstddef>
#include <string_view>

#include "model/value.h"

namespace hearth::model {

// Text counts its bytes and one more.
inline size_t TextSizeBytes(std::string_view text) { return text.size() + 1; }

// A document's path: its ids as text, and 16.
size_t PathSizeBytes(std::string_view path);

size_t ValueSizeBytes(const ValueView& value);

// The names and values of a map or document.
size_t MapSizeBytes(MapView map);

}  // namespace hearth::model
