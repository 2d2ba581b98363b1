#pragma once

#include <nghttp2/nghttp2.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace hearth::bench {

// One gRPC call over a connection. It may be reopened after it has ended.
//
// Threads: its connection's. Ownership: must live until its call has ended.
class ClientCall {
 public:
  ClientCall() = default;
  virtual ~ClientCall() = default;
  ClientCall(const ClientCall&) = delete;
  ClientCall& operator=(const ClientCall&) = delete;

  // Bytes of the answer: messages in gRPC frames, split at arbitrary points.
  virtual void OnData(std::string_view) {}
  // -1: the stream ended without a status. Not called when the connection is lost.
  virtual void OnEnd(int grpc_status) = 0;

 private:
  friend class ClientConnection;

  std::string frames_;  // Messages in gRPC frames; from `sent_bytes_` on still to be sent.
  size_t sent_bytes_ = 0;
  int32_t stream_id_ = -1;
  int grpc_status_ = -1;
  bool is_complete_ = true;   // No more messages will follow.
  bool is_deferred_ = false;  // The session waits until more data is announced.
};

struct ClientOptions {
  std::string host = "127.0.0.1";  // A numeric IPv4 address.
  uint16_t port = 0;
  std::vector<std::pair<std::string, std::string>> headers = {};  // In addition to gRPC's own.

  // Takes "HOST:PORT". The port is 0 if it is missing or not a number.
  void SetAddress(std::string_view address);
};

// One HTTP/2 client connection, cheap enough not to distort the measurement.
//
// Threads: one. Ownership: borrows the options and the calls. Errors: once the connection breaks,
// it is lost() and does nothing.
class ClientConnection {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Messages : uint8_t { kOne, kMore };

  explicit ClientConnection(const ClientOptions& options);
  ~ClientConnection();
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  Status Connect();
  // Queues a request; false if the connection accepts no more calls. `path` must outlive the
  // connection. Nothing is sent until Flush, or until the callback that calls this returns.
  bool Open(ClientCall& call, std::string_view path, std::string_view message, Messages messages);
  // Queues another message of a call that was opened with kMore.
  void Send(ClientCall& call, std::string_view message);
  void Flush();

  int descriptor() const { return descriptor_; }
  void OnReadable();
  void OnWritable() { Flush(); }
  // True while the socket has not accepted everything.
  bool wants_writable() const { return !unsent_.empty(); }
  bool lost() const { return lost_; }
  // When the bytes being processed were read.
  Clock::time_point now() const { return now_; }

 private:
  static ssize_t ReadFrames(nghttp2_session*, int32_t, uint8_t* buffer, size_t bytes_max,
                            uint32_t* flags, nghttp2_data_source* source, void*);
  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t, void*);
  static int OnDataChunk(nghttp2_session* session, uint8_t, int32_t stream_id, const uint8_t* data,
                         size_t size, void*);
  static int OnStreamClose(nghttp2_session* session, int32_t stream_id, uint32_t, void*);

  void PrepareHeaders();
  void Lose();

  const ClientOptions& options_;
  int descriptor_ = -1;
  nghttp2_session* session_ = nullptr;
  std::string authority_;
  std::vector<nghttp2_nv> headers_;  // The first one is the path.
  std::string unsent_;
  std::vector<char> input_;
  Clock::time_point now_;
  bool lost_ = false;
};

// Serves the connections of one thread. Ownership: borrows them.
class ClientPoll {
 public:
  ClientPoll();
  ~ClientPoll();
  ClientPoll(const ClientPoll&) = delete;
  ClientPoll& operator=(const ClientPoll&) = delete;

  void Add(ClientConnection& connection);
  // Call after sending on a connection outside of Wait: it may now wait for its socket.
  void Update(ClientConnection& connection);
  // Serves the connections that are ready; waits if none is.
  void Wait(std::chrono::milliseconds wait_max);

 private:
  void Watch(ClientConnection& connection, int operation);
  void Serve(ClientConnection& connection, uint32_t events);

  const int poll_;
};

}  // namespace hearth::bench
