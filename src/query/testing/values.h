// For tests: short ways to write fields and encoded values.
#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "model/field_path.h"
#include "model/value.h"

namespace hearth::query {

inline const std::string kNull = model::EncodeNull();
inline const std::string kNan = model::EncodeDouble(std::numeric_limits<double>::quiet_NaN());

inline model::FieldPath Path(std::string_view text) { return *model::FieldPath::Parse(text); }

// A reference to a document in projects/p/databases/(default).
inline std::string Ref(const std::string& path) {
  return model::EncodeReference("projects/p/databases/(default)/documents/" + path);
}

}  // namespace hearth::query
