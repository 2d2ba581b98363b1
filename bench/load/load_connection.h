#pragma once

#include <nghttp2/nghttp2.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "load/latency_histogram.h"
#include "load/load_generator.h"

namespace hearth::bench {

// What one thread has counted.
struct LoadCounts {
  LatencyHistogram latency;
  std::map<int, uint64_t> by_grpc_status;
};

// One connection that keeps a fixed number of calls in flight until it is told to stop.
//
// Threads: one. Errors: a lost connection counts its calls as broken off and is finished().
class LoadConnection {
 public:
  LoadConnection(const LoadOptions& options, LoadBody& body, std::atomic<uint64_t>& next_request,
                 LoadCounts& counts);
  ~LoadConnection();
  LoadConnection(const LoadConnection&) = delete;
  LoadConnection& operator=(const LoadConnection&) = delete;

  // Connects and sends the first calls.
  Status Start();
  int descriptor() const { return descriptor_; }
  // Reads, replaces answered calls by new ones, writes.
  void OnReadable();
  void OnWritable() { Flush(); }
  // True while the socket has not taken everything.
  bool wants_writable() const { return !unsent_.empty(); }
  // Opens no more calls.
  void StopOpening() { opening_ = false; }
  bool finished() const { return lost_ || (!opening_ && in_flight_ == 0); }

 private:
  using Clock = std::chrono::steady_clock;

  struct Call {
    std::string frame;
    size_t sent_bytes = 0;
    Clock::time_point start;
    int grpc_status = -1;
  };

  static ssize_t ReadFrame(nghttp2_session*, int32_t, uint8_t* buffer, size_t bytes_max,
                           uint32_t* flags, nghttp2_data_source* source, void*);
  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t, void*);
  static int OnStreamClose(nghttp2_session* session, int32_t stream_id, uint32_t, void* self);

  void PrepareHeaders();
  void OpenCall();
  void EndCall(Call* call);
  void Flush();
  void Lose();

  const LoadOptions& options_;
  LoadBody& body_;
  std::atomic<uint64_t>& next_request_;
  LoadCounts& counts_;
  int descriptor_ = -1;
  nghttp2_session* session_ = nullptr;
  std::string authority_;
  std::vector<nghttp2_nv> headers_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<Call*> free_calls_;
  size_t in_flight_ = 0;
  size_t to_open_ = 0;  // Calls that ended while bytes were being read.
  std::string unsent_;
  std::vector<char> input_;
  Clock::time_point now_;  // Of the read that is being worked on.
  bool opening_ = true;
  bool lost_ = false;
};

}  // namespace hearth::bench
