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

// The pause after `failures` consecutive failures (at least one). It doubles each time, up to a
// bound. `random` shortens it by up to half, so that clients that collided do not collide again.
inline std::chrono::microseconds PauseAfter(size_t failures, uint64_t random) {
  constexpr size_t kDoublingsMax = 16;
  const auto full = std::min(kPauseMax, kFirstPause * (1 << std::min(failures - 1, kDoublingsMax)));
  const auto half = static_cast<uint64_t>(full.count() / 2);
  return std::chrono::microseconds(half + random % (half + 1));
}

// The same with the transport's random source, which also makes document ids.
inline std::chrono::microseconds PauseAfter(size_t failures, Transport& transport) {
  return PauseAfter(failures, std::hash<std::string>()(transport.NewDocumentId()));
}

}  // namespace hearth::client
