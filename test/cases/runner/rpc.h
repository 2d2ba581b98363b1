// google.firestore.v1 as such: what doors that carry its messages have in common.
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

// No wait is longer: a server that hangs fails a case instead of hanging the run.
inline constexpr std::chrono::seconds kPatience{30};

inline Status OutOfPatience() { return Status(Code::kDeadlineExceeded, "no answer within 30 s"); }

// A call under way.
class PendingRpc {
 public:
  virtual ~PendingRpc() = default;
  virtual bool IsDone() = 0;
  // The messages of the answer, encoded.
  virtual Result<std::vector<std::string>> Wait() = 0;
};

// A call on which messages go both ways. It is cancelled at the end of its life.
class RpcStream {
 public:
  virtual ~RpcStream() = default;
  virtual void Send(const google::protobuf::Message& message) = 0;
  // The next message, encoded, or how the stream ended. DeadlineExceeded: nothing came.
  virtual Result<std::string> Receive() = 0;
};

// A connection to one server. Threads: one at a time.
class RpcChannel {
 public:
  virtual ~RpcChannel() = default;
  virtual std::unique_ptr<PendingRpc> Start(const Request& request) = 0;
  // `method`: "Listen" or "Write". Null where there are no streams.
  virtual std::unique_ptr<RpcStream> OpenStream(const std::string& method,
                                                const std::string& database) = 0;
};

// A session whose requests are sent as they are.
std::unique_ptr<Session> NewRpcSession(std::unique_ptr<RpcChannel> channel, std::string database);

// The listeners of a Listen stream, which is opened when it is first needed.
std::unique_ptr<Listeners> NewStreamListeners(RpcChannel& channel, std::string database);

// What a call came to, as answers.
Answer DecodeAnswer(const Operation& operation, const Result<std::vector<std::string>>& messages);

// Why JSON cannot carry the message; nullopt where it can.
std::optional<std::string> WhyNotJson(const google::protobuf::Message& message);

// The query that gives the last results first, as SDKs turn it round.
void TurnRound(proto::StructuredQuery* query);

}  // namespace hearth::cases
