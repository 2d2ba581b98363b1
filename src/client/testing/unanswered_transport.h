#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/testing/forwarding_transport.h"

namespace hearth::client {

// Performs commits but loses the answers to as many as a test asks for, as when a connection breaks
// at the wrong moment. Threads: safe for concurrent use.
class UnansweredTransport final : public ForwardingTransport {
 public:
  explicit UnansweredTransport(std::shared_ptr<Transport> transport)
      : ForwardingTransport(std::move(transport)) {}

  // The answers to lose, of calls that change something.
  void LoseAnswers(int count) { answers_to_lose_ = count; }

  Result<TransportCommit> Commit(std::vector<request::Write> writes,
                                 const std::string& transaction) override {
    const bool is_change = !writes.empty();
    Result<TransportCommit> commit = ForwardingTransport::Commit(std::move(writes), transaction);
    if (!commit.ok() || !is_change || answers_to_lose_ <= 0) return commit;
    --answers_to_lose_;
    return Status(Code::kUnavailable, "the connection broke");
  }

 private:
  std::atomic<int> answers_to_lose_ = 0;
};

}  // namespace hearth::client
