#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/status.h"
#include "load/client_connection.h"
#include "load/latency_histogram.h"
#include "load/load_generator.h"

namespace hearth::bench {

// The counts of one thread.
struct LoadCounts {
  LatencyHistogram latency;
  std::map<int, uint64_t> by_grpc_status;
  uint64_t in_time = 0;
};

// One connection that keeps a fixed number of calls in flight until it is stopped, or with a rate
// opens those that are due.
//
// Threads: one. Errors: after losing its connection it is finished(), with calls still in flight.
class LoadConnection {
 public:
  LoadConnection(const LoadOptions& options, LoadBody& body, std::atomic<uint64_t>& next_request,
                 LoadCounts& counts);

  // Connects and, without a rate, sends the first calls.
  Status Start();
  // Sends `count` more calls, or as many as may be in flight.
  void OpenMore(uint64_t count);
  ClientConnection& connection() { return connection_; }
  // Opens no more calls.
  void StopOpening() { opening_ = false; }
  bool finished() const { return connection_.lost() || (!opening_ && in_flight_ == 0); }
  size_t in_flight() const { return in_flight_; }

 private:
  struct Call final : public ClientCall {
    explicit Call(LoadConnection& connection) : owner(connection) {}
    void OnEnd(int grpc_status) override { owner.EndCall(*this, grpc_status); }

    LoadConnection& owner;
    ClientConnection::Clock::time_point start;
  };

  void OpenCall(Call& call);
  void EndCall(Call& call, int grpc_status);

  const LoadOptions& options_;
  LoadBody& body_;
  std::atomic<uint64_t>& next_request_;
  LoadCounts& counts_;
  ClientConnection connection_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<Call*> unused_;  // With a rate: those of `calls_` that are not in flight.
  size_t in_flight_ = 0;
  bool opening_ = true;
};

}  // namespace hearth::bench
