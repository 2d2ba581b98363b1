#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "client/transport.h"

namespace hearth::client {

inline constexpr std::chrono::microseconds kFirstPause = std::chrono::milliseconds(4);
inline constexpr std::chrono::microseconds kPauseMax = std::chrono::seconds(1);

// How long to wait after so many failures, at least one: twice as long each time, up to a bound.
// `random` takes up to half of it away, so that those who were in each other's way do not meet
// again.
inline std::chrono::microseconds PauseAfter(size_t failures, uint64_t random) {
  constexpr size_t kDoublingsMax = 16;
  const auto full = std::min(kPauseMax, kFirstPause * (1 << std::min(failures - 1, kDoublingsMax)));
  const auto half = static_cast<uint64_t>(full.count() / 2);
  return std::chrono::microseconds(half + random % (half + 1));
}

// The same with the transport's randomness, of which the ids of documents are made.
inline std::chrono::microseconds PauseAfter(size_t failures, Transport& transport) {
  return PauseAfter(failures, std::hash<std::string>()(transport.NewDocumentId()));
}

}  // namespace hearth::client
