#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "client/remote/grpc_connection.h"

namespace hearth::client {

struct GrpcChannelOptions {
  GrpcServer server;
  std::chrono::milliseconds timeout{60'000};  // Per call, including the wait for a connection.
  size_t connections_max = 8;
  size_t message_bytes_max = 32 * 1024 * 1024;  // Per response message.
};

// Calls to one server, over connections that are kept and reused. A call has its own connection, so
// a slow reader holds back only its own sender.
//
// Threads: safe for concurrent use. Errors: those of GrpcConnection; DeadlineExceeded also when no
// connection became free in time.
class GrpcChannel {
 public:
  explicit GrpcChannel(GrpcChannelOptions options);

  GrpcOutcome Call(const GrpcRequest& request, const OnGrpcMessage& on_message)
      EXCLUDES_LOCK(mutex_);

 private:
  // A place among the connections, for the duration of a call.
  class Place;
  // Null if `end` passes first.
  std::unique_ptr<GrpcConnection> Take(std::chrono::steady_clock::time_point end)
      EXCLUDES_LOCK(mutex_);
  void Return(std::unique_ptr<GrpcConnection> connection) EXCLUDES_LOCK(mutex_);

  const GrpcChannelOptions options_;
  Mutex mutex_;  // Leaf lock.
  CondVar returned_;
  std::vector<std::unique_ptr<GrpcConnection>> idle_ GUARDED_BY(mutex_);
  size_t taken_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hearth::client
