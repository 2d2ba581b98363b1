#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace hearth::transactions {

// How locks keep transactions serializable:
//   kRead    held by a transaction on what it read; no other owner may write it.
//   kUpdate  kRead for a transaction that lost a race before: it waits for exclusive access, and
//            new readers wait for it. So retries queue up and then win, instead of losing again
//            to every older reader.
//   kWrite   held by a commit from admission until it is on disk. Commits do not exclude one
//            another: the committer orders them.
enum class LockMode : uint8_t { kRead = 1, kUpdate = 2, kWrite = 4 };

inline constexpr LockMode kLockModes[] = {LockMode::kRead, LockMode::kUpdate, LockMode::kWrite};

// An owner can hold several modes of one document: the sum of their bits.
constexpr uint8_t BitOf(LockMode mode) { return static_cast<uint8_t>(mode); }

// The place of the mode in an array with one for each.
constexpr size_t SlotOf(LockMode mode) {
  return static_cast<size_t>(std::countr_zero(BitOf(mode)));
}

// Whether a request must wait for another owner that holds these modes.
constexpr bool Conflicts(LockMode requested, uint8_t held_modes) {
  const auto holds = [held_modes](LockMode mode) { return (held_modes & BitOf(mode)) != 0; };
  switch (requested) {
    case LockMode::kRead:
      return holds(LockMode::kUpdate) || holds(LockMode::kWrite);
    case LockMode::kUpdate:
      return held_modes != 0;
    case LockMode::kWrite:
      return holds(LockMode::kRead) || holds(LockMode::kUpdate);
  }
  return true;
}

}  // namespace hearth::transactions
