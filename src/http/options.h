// All limits on what a client can make the server hold or wait for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "http/origin_policy.h"

namespace hearth {
class MemoryBudget;
class Metrics;
}  // namespace hearth

namespace hearth::http {

struct ListenAddress {
  std::string host = {};  // A numeric address, or a name such as "localhost".
  uint16_t port = 0;      // 0 selects a free one.
};

// The resources that one connection may use.
struct ConnectionLimits {
  // The head of one request, names and values.
  size_t header_bytes_max = 16 * 1024;
  // From the first byte of a head, or from the connection's start, to the head's end.
  std::chrono::milliseconds header_read_timeout{15'000};
  // Bytes of unfinished request messages that one connection may hold.
  size_t buffered_request_bytes_max = 64 * 1024 * 1024;
  // Output is buffered up to this size and then waits for the socket to take all of it.
  size_t send_buffer_bytes_max = 256 * 1024;
  // A peer must accept at least this much of the pending output in each period, or all of it, and
  // acknowledge what was sent; else it is disconnected. An HTTP/2 stream whose answer advances by
  // less is reset, even if the peer answers pings; streams that are open together share the amount.
  std::chrono::milliseconds send_stall_timeout{60'000};
  size_t send_bytes_per_period_min = 32 * 1024;
  // A peer that owes the rest of a message must send at least this much of it in each period.
  std::chrono::milliseconds body_period{30'000};
  size_t body_bytes_per_period_min = 32 * 1024;

  // HTTP/1.1: a client that has closed its sending half usually is gone altogether. If it gets no
  // whole answer within this time, the request is cancelled.
  std::chrono::milliseconds half_closed_timeout{50};
  // HTTP/1.1: between two requests.
  std::chrono::milliseconds http1_idle_timeout{75'000};

  // HTTP/2: without open streams. Channels of gRPC clients idle for long on purpose.
  std::chrono::milliseconds http2_idle_timeout{30 * 60'000};
  // HTTP/2: idle time after which the peer gets a PING, and its time to answer.
  std::chrono::milliseconds ping_interval{60'000};
  std::chrono::milliseconds ping_timeout{20'000};
  uint32_t concurrent_streams_max = 1'000;
  // Request bytes in flight that no handler has taken yet, per stream and per connection.
  uint32_t stream_window_bytes = 1024 * 1024;
  uint32_t connection_window_bytes = 8 * 1024 * 1024;
  // Streams that a client may open and reset at once, and then per second (rapid reset).
  uint64_t stream_reset_burst_max = 1'000;
  uint64_t stream_resets_per_second_max = 100;
};

struct ServerOptions {
  std::vector<ListenAddress> listen = {};
  size_t loops = 1;
  // Shared by client (base/fair_share.h). A connection beyond this number, of a client that has
  // none, takes the place of the one that has been idle longest. If none has been idle for long
  // enough, or the client has had its share, it is accepted and closed immediately, so that its
  // client fails early.
  size_t connections_max = 50'000;
  std::chrono::milliseconds replaceable_after{5'000};
  ConnectionLimits connection = {};
  OriginPolicy origins = {};
  MemoryBudget* memory = nullptr;  // Must outlive the server. Null: unlimited.
  Metrics* metrics = nullptr;      // Must outlive the server. Null: no metrics.
};

}  // namespace hearth::http
