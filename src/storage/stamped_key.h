// Private to this folder: tells when a key of a stamped space has expired (Store::ExpireBefore).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hearth::storage {

// Shorter keys have no stamp and stay.
inline bool IsExpired(std::string_view key, uint64_t horizon) {
  constexpr size_t kStampBytes = 8;
  if (key.size() < kStampBytes) return false;
  uint64_t stamp = 0;
  for (const char byte : key.substr(key.size() - kStampBytes)) {
    stamp = stamp << 8 | static_cast<unsigned char>(byte);
  }
  return stamp < horizon;
}

}  // namespace hearth::storage
