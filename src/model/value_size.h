// Sizes by Firestore's documented formula, which limits documents. They are unrelated to the number
// of bytes of the stored form.
#pragma once

#include <cstddef>
#include <string_view>

#include "model/value.h"

namespace hearth::model {

// A text counts its bytes plus one.
inline size_t TextSizeBytes(std::string_view text) { return text.size() + 1; }

// A document's path: its ids as texts, plus 16.
size_t PathSizeBytes(std::string_view path);

size_t ValueSizeBytes(const ValueView& value);

// The names and values of a map or document.
size_t MapSizeBytes(MapView map);

}  // namespace hearth::model
