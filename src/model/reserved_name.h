#pragma once

#include <string_view>

namespace hearth::model {

// `__.*__`: names of collections, documents and fields that Firestore reserves.
inline bool IsReservedName(std::string_view name) {
  return name.size() >= 4 && name.starts_with("__") && name.ends_with("__");
}

}  // namespace hearth::model
