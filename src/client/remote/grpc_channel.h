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
  std::chrono::milliseconds timeout{60'000};  // Of one call, the wait for a connection included.
  size_t connections_max = 8;
  size_t message_bytes_max = 32 * 1024 * 1024;  // Of one message of an answer.
};

// Calls to one server, over connections that are kept and used again. A call has a connection for
// itself, so whoever takes its messages slowly holds back nobody but its own sender.
//
// Threads: safe for concurrent use. Errors: those of GrpcConnection; DeadlineExceeded also when no
// connection became free in time.
class GrpcChannel {
 public:
  explicit GrpcChannel(GrpcChannelOptions options);

  GrpcOutcome Call(const GrpcRequest& request, const OnGrpcMessage& on_message)
      EXCLUDES_LOCK(mutex_);

 private:
  // A place among the connections, for the time of a call.
  class Place;
  // Null when `end` comes first.
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
