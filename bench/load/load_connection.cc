#include "load/load_connection.h"

#include "base/status_macros.h"

namespace hearth::bench {

LoadConnection::LoadConnection(const LoadOptions& options, LoadBody& body,
                               std::atomic<uint64_t>& next_request, LoadCounts& counts)
    : options_(options),
      body_(body),
      next_request_(next_request),
      counts_(counts),
      connection_(options.client) {}

Status LoadConnection::Start() {
  RETURN_IF_ERROR(connection_.Connect());
  if (options_.rate > 0) return Status();
  for (size_t i = 0; i < options_.streams; ++i) {
    calls_.push_back(std::make_unique<Call>(*this));
    OpenCall(*calls_.back());
  }
  connection_.Flush();
  return Status();
}

void LoadConnection::OpenMore(uint64_t count) {
  for (; count > 0 && in_flight_ < options_.streams; --count) {
    if (unused_.empty()) {
      calls_.push_back(std::make_unique<Call>(*this));
      unused_.push_back(calls_.back().get());
    }
    Call& call = *unused_.back();
    unused_.pop_back();
    OpenCall(call);
  }
  connection_.Flush();
}

void LoadConnection::OpenCall(Call& call) {
  if (!opening_) return;
  const uint64_t number = next_request_.fetch_add(1, std::memory_order_relaxed);
  if (options_.requests_max != 0 && number >= options_.requests_max) {
    opening_ = false;
    return;
  }
  call.start = options_.rate > 0 ? ClientConnection::Clock::now() : connection_.now();
  if (!connection_.Open(call, options_.path, body_.Next(number),
                        ClientConnection::Messages::kOne)) {
    opening_ = false;
    return;
  }
  ++in_flight_;
}

void LoadConnection::EndCall(Call& call, int grpc_status) {
  --in_flight_;
  ++counts_.by_grpc_status[grpc_status];
  const auto took = connection_.now() - call.start;
  counts_.latency.Add(static_cast<uint64_t>(took.count()));
  if (grpc_status == 0 && (options_.deadline.count() == 0 || took <= options_.deadline)) {
    ++counts_.in_time;
  }
  if (options_.rate > 0) {
    unused_.push_back(&call);
  } else {
    OpenCall(call);
  }
}

}  // namespace hearth::bench
