// google.firestore.v1 itself: what the doors that carry its messages share.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cases/runner/operation.h"
#include "cases/runner/session.h"

namespace hearth::cases {

// The upper bound of all waits: a server that hangs fails a case instead of hanging the run.
inline constexpr std::chrono::seconds kPatience{30};

inline Status OutOfPatience() { return Status(Code::kDeadlineExceeded, "no answer within 30 s"); }

// A call in progress.
class PendingRpc {
 public:
  virtual ~PendingRpc() = default;
  virtual bool IsDone() = 0;
  // The messages of the answer, encoded.
  virtual Result<std::vector<std::string>> Wait() = 0;
};

// A bidirectional call. The destructor cancels it.
class RpcStream {
 public:
  virtual ~RpcStream() = default;
  virtual void Send(const google::protobuf::Message& message) = 0;
  // The next message, encoded, or how the stream ended. DeadlineExceeded: nothing arrived.
  virtual Result<std::string> Receive() = 0;
};

// A connection to one server. Threads: one at a time.
class RpcChannel {
 public:
  virtual ~RpcChannel() = default;
  virtual std::unique_ptr<PendingRpc> Start(const Request& request) = 0;
  // `method`: "Listen" or "Write". Null if there are no streams.
  virtual std::unique_ptr<RpcStream> OpenStream(const std::string& method,
                                                const std::string& database) = 0;
};

// A session that sends its requests unchanged.
std::unique_ptr<Session> NewRpcSession(std::unique_ptr<RpcChannel> channel, std::string database);

// The listeners of a Listen stream, which is opened when it is first needed.
std::unique_ptr<Listeners> NewStreamListeners(RpcChannel& channel, std::string database);

// Converts the outcome of a call to an answer.
Answer DecodeAnswer(const Operation& operation, const Result<std::vector<std::string>>& messages);

// Why JSON cannot represent the message; nullopt if it can.
std::optional<std::string> WhyNotJson(const google::protobuf::Message& message);

// Reverses the query so that it returns the last results first, as SDKs do.
void TurnRound(proto::StructuredQuery* query);

}  // namespace hearth::cases
