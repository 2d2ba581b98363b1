// All limits on what the clients of channels can make the server hold or wait for.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/memory_budget.h"

namespace hearth::doors::webchannel {

// A client abandons a back channel that has been silent for 1.5 times as long.
inline constexpr std::chrono::milliseconds kAnnouncedKeepAlive{30'000};
// A message after its conversion from JSON: Firestore's limit for a request, plus some room.
inline constexpr size_t kMessageBytesMax = 10 * 1024 * 1024 + 64 * 1024;
// The client's own limit for one request.
inline constexpr size_t kMapsPerRequestMax = 1'000;
// The fields that a client sends as text in a handshake.
inline constexpr size_t kHeaderBlockBytesMax = 16 * 1024;
// The approximate size of one chunk of arrays. A client processes a chunk only when it is complete.
inline constexpr size_t kChunkBytes = 64 * 1024;
// What a session takes by itself.
inline constexpr size_t kSessionBytes = 16 * 1024;
// What a message takes while it waits, besides its bytes.
inline constexpr size_t kHeldMapBytes = 128;
// Forward requests that wait for an answer while the method is paused.
inline constexpr size_t kHeldAnswersMax = 16;

// Shorter polls than this would only keep the client busy.
inline constexpr std::chrono::milliseconds kPollTimeoutMin{1'000};

struct ChannelOptions {
  size_t sessions_max = 20'000;
  // A request of 10 MiB is up to three times as long as percent-encoded JSON, and a client sends
  // all its queued messages in one body.
  size_t body_bytes_max = 60 * 1024 * 1024;
  // Longer bodies are parsed off the loop.
  size_t loop_body_bytes_max = 64 * 1024;
  // Longer messages are read off the loop.
  size_t loop_message_bytes_max = 64 * 1024;
  // Maps that arrived ahead of an earlier one, or while the method is paused.
  size_t held_maps_max = 2'000;
  size_t held_map_bytes_max = 64 * 1024 * 1024;
  // A session without a back channel ends after this.
  std::chrono::milliseconds session_timeout{60'000};
  // A silent back channel gets a "noop" this often; a poll is answered with one.
  std::chrono::milliseconds keep_alive{25'000};
  // A back channel ends when this many sent bytes are unacknowledged: the client acknowledges them
  // when it opens the next one.
  size_t unacknowledged_bytes_max = 512 * 1024;
  // Limits everything kept for a client, sent or not. A method that waits for WhenWritable stays
  // far below it; the session of a client that does not read ends here.
  size_t retained_bytes_max = 32 * 1024 * 1024;
  MemoryBudget* memory =
      nullptr;  // For all of the above. Must outlive the sessions. Null: unlimited.
};

}  // namespace hearth::doors::webchannel
