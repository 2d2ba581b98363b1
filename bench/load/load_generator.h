// Drives a gRPC server with unary calls over many HTTP/2 connections, and measures.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "load/client_connection.h"

namespace hearth::bench {

// Supplies the request messages.
//
// Threads: all threads of the generator call Next concurrently.
class LoadBody {
 public:
  virtual ~LoadBody() = default;
  // The message of request `i`. Every request of a run has a distinct number.
  virtual std::string Next(uint64_t i) = 0;
};

// The same messages over and over.
class CyclingBody final : public LoadBody {
 public:
  // `messages` has at least one.
  explicit CyclingBody(std::vector<std::string> messages) : messages_(std::move(messages)) {}
  std::string Next(uint64_t i) override { return messages_[i % messages_.size()]; }

 private:
  const std::vector<std::string> messages_;
};

// Reads messages, each preceded by its size in 4 bytes, little-endian. InvalidArgument if the file
// cannot be read, contains no message, or ends inside one.
Result<std::vector<std::string>> ReadMessages(const std::string& file_name);

struct LoadOptions {
  ClientOptions client = {};
  std::string path = "/google.firestore.v1.Firestore/GetDocument";
  size_t connections = 8;
  size_t streams = 32;  // Requests in flight on each connection.
  size_t threads = 1;   // The connections are distributed over them.
  std::chrono::milliseconds duration{5'000};
  uint64_t requests_max = 0;  // 0: as many as the time allows.
  // Requests per second, answered or not, with at most `streams` in flight on each connection.
  // 0: each answer makes room for the next request.
  double rate = 0;
  std::chrono::milliseconds deadline{0};  // The grpc-timeout of each request; 0: none.
};

struct LoadReport {
  uint64_t requests = 0;  // Answered, with any status.
  double seconds = 0;
  std::map<int, uint64_t> by_grpc_status;  // -1: ended without a status.
  uint64_t in_time = 0;                    // Answered with OK before the deadline, if there is one.
  double p50_micros = 0;
  double p99_micros = 0;

  std::string ToJson() const;
};

// Runs for the given duration or number of requests, then lets the calls in flight finish.
// Unavailable if a connection cannot be made; a connection that is lost later counts as status -1.
Result<LoadReport> GenerateLoad(const LoadOptions& options, LoadBody& body);

}  // namespace hearth::bench
