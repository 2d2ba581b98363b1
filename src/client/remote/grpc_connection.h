#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace hearth::client {

enum class Encryption : uint8_t { kNone, kTls };

struct GrpcServer {
  std::string address;  // HOST:PORT.
  Encryption encryption = Encryption::kNone;
  std::string authorities_file = {};  // PEM. Empty: the system's authorities.
};

using GrpcHeaders = std::vector<std::pair<std::string, std::string>>;

struct GrpcRequest {
  std::string path;  // "/google.firestore.v1.Firestore/Commit"
  std::string message;
  GrpcHeaders headers = {};
};

struct GrpcOutcome {
  Status status;
  // False: the server did not get the request's message, so it had no effect.
  bool was_sent = false;
};

// Gets each message of a response as it arrives. Returning false ends the call without an error.
// The message is valid only during the call.
using OnGrpcMessage = std::function<bool(std::string_view message)>;

// One connection to a server, opened on first use and kept between calls.
//
// A request is never sent twice: a broken connection is an error for the caller, who knows whether
// a retry is safe.
// Threads: one at a time. Errors: the server's status; Unavailable if it cannot be reached or
// disconnects; DeadlineExceeded.
class GrpcConnection {
 public:
  struct Limits {
    std::chrono::milliseconds timeout;
    size_t message_bytes_max;
  };

  explicit GrpcConnection(const GrpcServer& server);
  ~GrpcConnection();
  GrpcConnection(const GrpcConnection&) = delete;
  GrpcConnection& operator=(const GrpcConnection&) = delete;

  GrpcOutcome Call(const GrpcRequest& request, const Limits& limits,
                   const OnGrpcMessage& on_message);
  // False after a call that ended abnormally: the next one needs a new connection.
  bool is_reusable() const { return is_reusable_; }

 private:
  struct Handles;
  struct Transfer;
  class Attached;
  enum class Connect : uint8_t { kIfNeeded, kNever };

  GrpcOutcome Run(const GrpcRequest& request, const Limits& limits, const OnGrpcMessage& on_message,
                  Transfer* transfer);
  void Prepare(const GrpcRequest& request, const Limits& limits, Transfer* transfer);

  const std::string url_prefix_;
  const std::unique_ptr<Handles> handles_;
  long http_version_;
  // False: a reused connection and a new one need separate attempts.
  bool reconnects_itself_;
  bool is_connected_ = false;
  bool is_reusable_ = true;
};

}  // namespace hearth::client
